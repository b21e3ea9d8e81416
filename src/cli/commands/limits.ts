import { useCase } from "../../app/index.ts";
import { defineCommand, withControl } from "../define-command.ts";
import { json, mutation, target, variant } from "../options.ts";

/** `gauntlet limits`: finds out how an account is limited. */
export const limitsCommand = defineCommand({
  command: "limits",
  describe: "Find out how an account is limited: rate, burst, kind of window, concurrency limit; uses the account up",
  builder: (yargs) =>
    yargs.options({
      target,
      account: {
        type: "string",
        default: "valid",
        requiresArg: true,
        describe: "valid, starter, growth, scale, limited.0, limited.1, …",
      },
      "budget-requests": {
        type: "number",
        requiresArg: true,
        describe: "most requests; default by the account's limits",
      },
      minutes: { type: "number", requiresArg: true, describe: "longest time; default 6" },
      json,
      mutation,
      variant,
    }),
  run: async (argv) => {
    const { limits } = await useCase.limits();
    return withControl((control) => limits({ ...argv, requests: argv.budgetRequests }, control), { quiet: false });
  },
});
