import type { CommandModule } from "yargs";

import { type Command, defineCommand, defineGroup, text } from "../../terminal/index.ts";

const accept = defineCommand({
  command: "accept <dir>",
  describe: "Store a run as the baseline that later runs are compared with",
  examples: [
    ["gauntlet baseline accept gauntlet-runs/my-run", "into gauntlet-baseline.json"],
    ["gauntlet baseline accept gauntlet-runs/my-run --file ci/baseline.json", "into your own file"],
  ],
  builder: (yargs) =>
    yargs.positional("dir", { type: "string", demandOption: true, describe: "folder of a run" }).options({
      file: { ...text("baseline file"), default: "gauntlet-baseline.json" },
    }),
  run: async ({ dir, file }) => (await import("./run.ts")).acceptRun(dir, file),
});

/** `gauntlet baseline`: what later runs are compared with, in a file that is reviewed like code. */
export const baselineCommand: CommandModule = defineGroup({
  name: "baseline",
  describe: "Store a run as the baseline that later runs are compared with",
  commands: [accept as Command],
});
