import { useCase } from "../../app/index.ts";
import { defineCommand, withControl } from "../define-command.ts";
import { conformOptions, flag } from "../options.ts";

export const conformCommand = defineCommand({
  command: "conform [suites..]",
  describe: "Run the conformance suites, or those that you name",
  examples: [
    ["gauntlet conform auth errors --target gauntlet.yaml", "two suites"],
    ["gauntlet conform --only limits.rate-enforced --target gauntlet.yaml", "one check"],
  ],
  builder: (yargs) =>
    yargs
      .positional("suites", {
        type: "string",
        array: true,
        default: [] as string[],
        defaultDescription: "all",
        describe: "suites to run",
      })
      .options({
        ...conformOptions,
        "last-failed": flag("only the check instances that failed in the latest run of this target in gauntlet-runs"),
      }),
  run: async (argv) => {
    const { conform } = await useCase.conform();
    return withControl((control) => conform({ ...argv, command: "conform" }, control), { quiet: argv.json });
  },
});
