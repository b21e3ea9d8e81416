import { EXIT } from "../../core/index.ts";
import { defineCommand, PORTS, untilStopped, within } from "../../terminal/index.ts";

export const showReportCommand = defineCommand({
  command: "show-report [dir]",
  describe: "Serve the report of a run on 127.0.0.1 and open it in a browser",
  examples: [
    ["gauntlet show-report", "the latest report in gauntlet-runs"],
    [
      "gauntlet show-report gauntlet-run --no-open",
      "the report in this folder; prints the address without opening a browser",
    ],
  ],
  builder: (yargs) =>
    yargs
      .positional("dir", { type: "string", describe: "folder of a run; default: the latest in gauntlet-runs" })
      .options({
        port: { type: "number", ...within(PORTS), default: 0, describe: "TCP port; 0 takes a free one" },
        open: { type: "boolean", default: true, describe: "open a browser; --no-open only prints the address" },
      }),
  run: async (argv) => {
    const { showReport } = await import("./run.ts");
    await using shown = await showReport(argv);
    const keepAlive = setInterval(() => undefined, 60_000);
    await untilStopped(() =>
      process.stdout.write(`serving the report of ${shown.dir} at ${shown.origin}; press Ctrl-C to stop\n`),
    );
    clearInterval(keepAlive);
    return { exitCode: EXIT.pass, text: () => "" };
  },
});
