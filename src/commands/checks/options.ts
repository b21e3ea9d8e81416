import { defineCommand, json, suite } from "../../terminal/index.ts";

export const checksCommand = defineCommand({
  command: "checks",
  describe: "List the checks with their requirements and levels",
  examples: [
    ["gauntlet checks", "the list"],
    ["gauntlet checks --suite ./my-suite.ts --json", "with your own suite, as JSON"],
  ],
  builder: (yargs) => yargs.options({ json, suite }),
  run: async (argv) => (await import("./run.ts")).listChecks(argv.suite),
});
