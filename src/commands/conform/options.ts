import type { ConformOptions } from "../../run/conformance/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { conformOptions, defineCommand, flag, grouped, withControl } from "../../terminal/index.ts";

export const conformCommand = defineCommand({
  command: "conform [suites..]",
  describe: "Run the conformance suites, or those that you name",
  examples: [
    ["gauntlet conform auth errors --target gauntlet.yaml", "two suites"],
    [
      "gauntlet conform --only acme.region --suite own.ts --target gauntlet.yaml --watch",
      "one check of your own suite, again each time you save it",
    ],
  ],
  builder: (yargs) =>
    yargs
      .positional("suites", {
        type: "string",
        array: true,
        default: [] as string[],
        defaultDescription: "all",
        describe: "suites to run, such as auth or streaming; `gauntlet checks` lists them",
      })
      .options({
        ...conformOptions,
        ...grouped("What to run", {
          watch: flag("run the checks again when the target file or a --suite file changes, aborting the current run"),
          "last-failed": flag("only the check instances that failed in the latest run of this target in gauntlet-runs"),
        }),
      }),
  run: async (argv) => {
    if (argv.watch) return onEveryChange(argv);
    const { conform } = await import("../../run/conformance/index.ts");
    return withControl((control) => conform({ ...argv, command: "conform" }, control), { quiet: argv.json });
  },
});

async function onEveryChange(argv: Omit<ConformOptions, "command">): Promise<Outcome> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => stop.abort(signal));
  const { conformOnChange } = await import("./on-change.ts");
  const exitCode = await conformOnChange(
    { ...argv, command: "conform" },
    {
      args: process.argv.slice(2),
      stop: stop.signal,
      onNotice: (text) => process.stderr.write(`gauntlet: ${text}\n`),
    },
  );
  return { exitCode, text: () => "" };
}
