import { defineCommand, json, suite } from "../../terminal/index.ts";

export const rejudgeCommand = defineCommand({
  command: "rejudge <dir>",
  describe: "Judge a stored run again from its recording, without sending anything",
  examples: [
    ["gauntlet rejudge gauntlet-runs/my-run", "with the checks of this version"],
    ["gauntlet rejudge gauntlet-runs/my-run --json", "as one JSON document"],
  ],
  builder: (yargs) =>
    yargs
      .positional("dir", { type: "string", demandOption: true, describe: "folder of a run" })
      .options({ json, suite }),
  run: async (argv) => (await import("./run.ts")).rejudge(argv),
});
