// `npm start`: set-up, then `gauntlet run` against the embedded reference gateway. Arguments after `--` replace the command: `npm
// start -- conform auth`. Name another target with `--target`.
import { join } from "node:path";
import { hand, makeReady, root } from "./make-ready.mjs";

const JUDGING = ["run", "conform", "load", "limits", "capacity"];

makeReady();
const args = process.argv.slice(2);
const [name, ...rest] = args.length === 0 || args[0].startsWith("-") ? ["run", ...args] : args;
const named = rest.some((argument) => argument === "--target" || argument.startsWith("--target="));
const target = JUDGING.includes(name) && !named ? ["--target", "embedded"] : [];
await hand(process.execPath, [join(root, "dist", "src", "main.js"), name, ...rest, ...target]);
