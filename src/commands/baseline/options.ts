import type { CommandModule } from "yargs";

import { didYouMean, UsageError } from "../../core/index.ts";
import { defineCommand, examplesText, text } from "../../terminal/index.ts";

const EXAMPLES = [
  ["gauntlet baseline accept gauntlet-runs/my-run", "into gauntlet-baseline.json"],
  ["gauntlet baseline accept gauntlet-runs/my-run --file ci/baseline.json", "into your own file"],
] as const;

const accept = defineCommand({
  command: "accept <dir>",
  describe: "Store a run as the baseline that later runs are compared with",
  examples: EXAMPLES,
  builder: (yargs) =>
    yargs.positional("dir", { type: "string", demandOption: true, describe: "folder of a run" }).options({
      file: { ...text("baseline file"), default: "gauntlet-baseline.json" },
    }),
  run: async ({ dir, file }) => (await import("./run.ts")).acceptRun(dir, file),
});

/** `gauntlet baseline`: what later runs are compared with, in a file that is reviewed like code. */
export const baselineCommand: CommandModule = {
  command: "baseline <action>",
  describe: "Store a run as the baseline that later runs are compared with",
  builder: (yargs) => yargs.command(accept).epilogue(examplesText(EXAMPLES)),
  handler: ({ action }) => {
    const guess = didYouMean(String(action), ["accept"]);
    throw new UsageError(`unknown command "baseline ${String(action)}"`, {
      hint: `${guess}Use \`gauntlet baseline accept DIR\`.`,
    });
  },
};
