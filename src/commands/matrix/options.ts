import { defineCommand, json, requiredArray, text } from "../../terminal/index.ts";

export const matrixCommand = defineCommand({
  command: "matrix <claims..>",
  describe: "Compare the claims of gateways side by side, in a static page",
  examples: [
    ["gauntlet matrix claims/*.json --out matrix", "page, feed of changes, badges, and a table for a README"],
    [
      "gauntlet matrix claims/*.json --records gauntlet-runs --out matrix",
      "also verifies the claims with their records",
    ],
  ],
  builder: (yargs) =>
    yargs.positional("claims", { ...requiredArray, describe: "files of claims" }).options({
      out: { type: "string", requiresArg: true, demandOption: true, describe: "folder to write to" },
      overhead: text("run of gauntlet overhead: its figures appear next to the claims, separate from the results"),
      records: text("folder with the runs: verifies each claim against its run, and shows complete exchanges"),
      json,
    }),
  run: async (argv) => (await import("./run.ts")).matrix(argv),
});
