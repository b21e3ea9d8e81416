import { defineCommand, flag, grouped, json, many, number, requiredArray, text } from "../../terminal/index.ts";

export const historyCommand = defineCommand({
  command: "history <paths..>",
  describe: "Store runs in one file, and show how their metrics change over time",
  examples: [
    ["gauntlet history gauntlet-runs", "import run folders, and show the trends of what they measured"],
    [
      "gauntlet history gauntlet-history.db --metric ttft_ms --gate",
      "trends of the stored runs; exit code 1 if a metric got worse",
    ],
  ],
  builder: (yargs) =>
    yargs
      .positional("paths", {
        ...requiredArray,
        describe: "folders of runs, folders with such folders, or one history file",
      })
      .options({
        ...grouped("What to show", {
          metric: many("metric to show, or a prefix of metric names; may be repeated"),
          since: text("run id or date: exclude older runs"),
        }),
        ...grouped("Judging", {
          margin: {
            ...number("ignore changes of latencies and rates below this, percent", {
              min: 0,
              max: 1_000,
              fractions: true,
            }),
            default: 10,
          },
          gate: flag("fail (exit code 1) on a regression; exit code 4 if one is undecided"),
        }),
        ...grouped("Storage and output", {
          db: { ...text("file into which folders are imported (SQLite)"), default: "gauntlet-history.db" },
          html: text("HTML file to write the trends to"),
          json,
        }),
      }),
  run: async (argv) => (await import("./run.ts")).history(argv),
});
