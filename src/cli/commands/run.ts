import { useCase } from "../../app/index.ts";
import { defineCommand, withControl } from "../define-command.ts";
import { confirm, conformOptions } from "../options.ts";

export const runCommand = defineCommand({
  command: "run",
  describe: "Judge a gateway: conformance, then load on the tiers it has, verdict and reports",
  builder: (yargs) =>
    yargs.options({
      ...conformOptions,
      load: {
        type: "boolean",
        default: true,
        describe: "generate load on the target's tiers; --no-load leaves it out",
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
