// `npm start`: set-up, then a first verdict by the quick checks, then the whole `gauntlet run`, both against the embedded reference
// gateway. Arguments after `--` replace both: `npm start -- conform auth`. Name another target with `--target`.
import { join } from "node:path";
import { makeReady, root, runChild } from "./make-ready.mjs";

const JUDGING = ["run", "conform", "load", "limits", "capacity"];
const say = (text) => process.stderr.write(`\n${text}\n\n`);
const gauntlet = (...args) => runChild(process.execPath, [join(root, "dist", "src", "main.js"), ...args]);

makeReady();
const args = process.argv.slice(2);
if (args.length === 0) {
  say("First verdict: the quick checks of the embedded reference gateway.");
  await gauntlet("conform", "--quick", "--target", "embedded");
  if (process.exitCode === 0) {
    say("Now the full run: every check and its waits, and load on every tier (about three minutes; Ctrl-C ends it).");
    await gauntlet("run", "--target", "embedded");
    say(`Next:
  npm start -- conform errors auth --mutation auth.messages-with-any-key   a gateway with a defect
  npm start -- conform --quick --target gauntlet.yaml                      your gateway: see "Your own gateway" in README.md`);
  }
} else {
  const [name, ...rest] = args[0].startsWith("-") ? ["run", ...args] : args;
  const named = rest.some((argument) => argument === "--target" || argument.startsWith("--target="));
  const target = JUDGING.includes(name) && !named ? ["--target", "embedded"] : [];
  await gauntlet(name, ...rest, ...target);
}
