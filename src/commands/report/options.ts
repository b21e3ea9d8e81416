import { defineCommand, requiredArray, showProgress, text } from "../../terminal/index.ts";

/** Formats that `--format` and `--print` both accept. */
const TEXT_FORMATS = [
  "junit",
  "ctrf",
  "markdown",
  "comment",
  "annotations",
  "sarif",
  "events",
  "openmetrics",
  "claim",
] as const;

export const reportCommand = defineCommand({
  command: "report <dirs..>",
  describe: "Render the reports of stored runs again",
  examples: [
    ["gauntlet report gauntlet-runs/my-run", "the default reports, into the folder of the run"],
    [
      "gauntlet report gauntlet-run --format comment --base main-run",
      "a comment for a pull request, compared with a run of the main branch",
    ],
  ],
  builder: (yargs) =>
    yargs.positional("dirs", { ...requiredArray, describe: "folders of runs" }).options({
      format: {
        type: "string",
        array: true,
        nargs: 1,
        choices: ["html", "llm-d", ...TEXT_FORMATS] as const,
        default: [],
        defaultDescription: "html, junit, ctrf, markdown",
        describe: "format to write; may be repeated; claim states what the run proves about its profiles",
      },
      layout: {
        choices: ["single", "folder"] as const,
        default: "single" as const,
        describe: "HTML as one file, or as a folder for servers that forbid inline styles",
      },
      base: text("folder of an earlier run to compare with in the comment"),
      "report-url": text("address of the report, for the link in the comment"),
      print: {
        choices: ["terminal", "json", ...TEXT_FORMATS] as const,
        describe: "report to print to stdout; nothing is written",
      },
    }),
  run: async (argv) => {
    const { report } = await import("./run.ts");
    using progress = showProgress(process.stderr, { quiet: false });
    return report(argv, progress.onProgress);
  },
});
