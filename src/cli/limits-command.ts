import type { CommandModule } from "yargs";
import { json, mutation, target, variant } from "./options.ts";
import { leaveExitCode } from "./outcome.ts";

interface Arguments {
  readonly target?: string | undefined;
  readonly account: string;
  readonly "budget-requests"?: number;
  readonly minutes?: number;
  readonly json: boolean;
  readonly mutation: string[];
  readonly variant: string[];
}

/** `gauntlet limits`: finds out how an account is limited. */
export const limitsCommand: CommandModule<object, Arguments> = {
  command: "limits",
  describe: "Find out how an account is limited: rate, burst, kind of window, slots; uses the account up",
  builder: {
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
  },
  handler: async (argv) => {
    const { limits } = await import("../app/limits.ts");
    leaveExitCode(argv, await limits({ ...argv, requests: argv["budget-requests"] }));
  },
};
