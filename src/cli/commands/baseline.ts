import type { CommandModule } from "yargs";
import { useCase } from "../../app/index.ts";
import { UsageError } from "../../core/index.ts";
import { defineCommand } from "../define-command.ts";

const accept = defineCommand({
  command: "accept <dir>",
  describe: "Take a kept run as what later runs are compared with",
  builder: (yargs) =>
    yargs.positional("dir", { type: "string", demandOption: true, describe: "folder of a run" }).options({
      file: { type: "string", default: "gauntlet-baseline.json", requiresArg: true, describe: "baseline file" },
    }),
  run: async ({ dir, file }) => (await useCase.baseline()).acceptRun(dir, file),
});

/** `gauntlet baseline`: what later runs are compared with, in a file that is reviewed like code. */
export const baselineCommand: CommandModule = {
  command: "baseline <action>",
  describe: "Accept a run as the baseline of later ones",
  builder: (yargs) => yargs.command(accept),
  handler: ({ action }) => {
    throw new UsageError(`there is no "baseline ${String(action)}"`, { hint: "Use `gauntlet baseline accept DIR`." });
  },
};
