// `npm test`: set-up, then vitest. Arguments go to vitest: `npm test -- test/dialects`.
import { join } from "node:path";
import { makeReady, root, runChild } from "./make-ready.mjs";

makeReady();
process.chdir(root);
await runChild(process.execPath, [join(root, "node_modules", "vitest", "vitest.mjs"), "run", ...process.argv.slice(2)]);
