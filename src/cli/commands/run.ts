import { useCase } from "../../app/index.ts";
import { defineCommand, withControl } from "../define-command.ts";
import { confirm, conformOptions } from "../options.ts";

export const runCommand = defineCommand({
  command: "run",
  describe: "Judge a gateway as a whole: conformance, then load on the tiers that it has",
  examples: [
    ["gauntlet run --target gauntlet.yaml", "everything that the target file allows"],
    ["gauntlet run --target gauntlet.yaml --policy gauntlet-policy.yaml --json", "as a CI job runs it"],
  ],
  builder: (yargs) =>
    yargs.options({
      ...conformOptions,
      load: {
        type: "boolean",
        default: true,
        describe: "load the tiers of the target; --no-load does not",
      },
      confirm,
    }),
  run: async (argv) => {
    const { conform } = await useCase.conform();
    const tiers = argv.load && argv.only.length === 0;
    return withControl((control) => conform({ ...argv, command: "run", suites: [], tiers }, control), {
      quiet: argv.json,
    });
  },
});
