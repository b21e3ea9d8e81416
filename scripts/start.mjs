// `npm start`: set-up, then `gauntlet run`. Arguments after `--` replace the command: `npm start -- conform auth`.
import { join } from "node:path";
import { hand, makeReady, root } from "./make-ready.mjs";

makeReady();
const args = process.argv.slice(2);
const command = args.length === 0 || args[0].startsWith("-") ? ["run", ...args] : args;
await hand(process.execPath, [join(root, "dist", "src", "main.js"), ...command]);
