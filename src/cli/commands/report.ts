import { useCase } from "../../app/index.ts";
import { defineCommand } from "../define-command.ts";
import { showProgress } from "../progress/progress.ts";

export const reportCommand = defineCommand({
  command: "report <dirs..>",
  describe: "Render the reports of stored runs again",
  builder: (yargs) =>
    yargs.positional("dirs", { type: "string", array: true, demandOption: true, describe: "folders of runs" }).options({
      format: {
        type: "string",
        array: true,
        nargs: 1,
        choices: ["html", "junit", "ctrf", "markdown", "annotations", "sarif", "events", "openmetrics"] as const,
        default: [],
        describe: "write this; may be repeated; default what every run leaves in its folder",
      },
      layout: {
        choices: ["single", "folder"] as const,
        default: "single" as const,
        describe: "HTML as one file, or as a folder for servers that forbid what stands inside a page",
      },
      print: {
        choices: [
          "terminal",
          "json",
          "junit",
          "ctrf",
          "markdown",
          "annotations",
          "sarif",
          "events",
          "openmetrics",
        ] as const,
        describe: "print this to stdout and write nothing",
      },
    }),
  run: async (argv) => {
    const { report } = await useCase.report();
    using progress = showProgress(process.stderr, { quiet: false });
    return report(argv, progress.onProgress);
  },
});
