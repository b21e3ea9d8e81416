import type { CommandModule } from "yargs";
import { UsageError } from "../core/index.ts";

interface AcceptArguments {
  readonly dir: string;
  readonly file: string;
}

const accept: CommandModule<object, AcceptArguments> = {
  command: "accept <dir>",
  describe: "Take a kept run as what later runs are held against",
  builder: (yargs) =>
    yargs.positional("dir", { type: "string", demandOption: true, describe: "folder of a run" }).options({
      file: { type: "string", default: "gauntlet-baseline.json", requiresArg: true, describe: "baseline file" },
    }) as never,
  handler: async ({ dir, file }) => {
    const { acceptBaseline, baselineText } = await import("../policy/index.ts");
    const { readRecord, writeAtomically } = await import("../record/index.ts");
    const { readBaseline } = await import("../app/policy-step.ts");
    const record = readRecord(dir);
    const baseline = acceptBaseline(readBaseline(file), record);
    writeAtomically(file, baselineText(baseline));
    const checks = record.checks.length;
    const runs = (record.load?.runs ?? []).map(({ name }) => name);
    const what = [...(checks === 0 ? [] : [`${checks} checks`]), ...runs.map((name) => `the figures of ${name}`)];
    process.stdout.write(`${file}: ${what.join(", ")} of run ${record.runId}\n`);
  },
};

/** `gauntlet baseline`: what later runs are held against, in a file that is reviewed like code. */
export const baselineCommand: CommandModule = {
  command: "baseline <action>",
  describe: "Accept a run as the baseline of later ones",
  builder: (yargs) => yargs.command(accept),
  handler: ({ action }) => {
    throw new UsageError(`there is no "baseline ${String(action)}"`, { hint: "Use `gauntlet baseline accept DIR`." });
  },
};
