import { defineCommand, json } from "../../terminal/index.ts";

export const verifyClaimCommand = defineCommand({
  command: "verify-claim <claim>",
  describe: "Check that a claim follows from the record of a run, byte for byte",
  examples: [
    ["gauntlet verify-claim claim.json --record gauntlet-runs/my-run", "judges the recording again; sends nothing"],
    ["gauntlet verify-claim claim.json --record gauntlet-runs/my-run --json", "as one JSON document"],
  ],
  builder: (yargs) =>
    yargs.positional("claim", { type: "string", demandOption: true, describe: "file of the claim" }).options({
      record: { type: "string", requiresArg: true, demandOption: true, describe: "folder of the run" },
      json,
    }),
  run: async (argv) => (await import("./run.ts")).verifyClaim(argv),
});
