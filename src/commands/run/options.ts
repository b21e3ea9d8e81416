import { confirm, conformOptions, defineCommand, grouped, withControl } from "../../terminal/index.ts";

export const runCommand = defineCommand({
  command: "run",
  describe: "Run all conformance suites and the load tests of the target's tiers",
  examples: [
    ["gauntlet run --target gauntlet.yaml", "everything that the target file allows"],
    ["gauntlet run --target gauntlet.yaml --policy gauntlet-policy.yaml --json", "as a CI job runs it"],
  ],
  builder: (yargs) =>
    yargs.options({
      ...conformOptions,
      ...grouped("What to run", {
        load: {
          type: "boolean",
          default: true,
          describe: "also run the load tests of the tiers; --no-load skips them",
        },
      }),
      ...grouped("Judging", { confirm }),
    }),
  run: async (argv) => {
    const { conform } = await import("../../run/conformance/index.ts");
    const tiers = argv.load && argv.only.length === 0;
    return withControl((control) => conform({ ...argv, command: "run", suites: [], tiers }, control), {
      quiet: argv.json,
    });
  },
});
