import type { CommandModule } from "yargs";
import { json, mutation, seed, target, variant } from "./options.ts";
import { leaveExitCode } from "./outcome.ts";

interface Arguments {
  readonly objective: string;
  readonly target?: string | undefined;
  readonly account: string;
  readonly workload?: string;
  readonly streams: boolean;
  readonly from?: number;
  readonly to?: number;
  readonly "step-s": number;
  readonly minutes: number;
  readonly seed?: number;
  readonly json: boolean;
  readonly mutation: string[];
  readonly variant: string[];
}

/** `gauntlet capacity`: how much load still meets an objective. */
export const capacityCommand: CommandModule<object, Arguments> = {
  command: "capacity",
  describe: "Find the highest rate, or number of streams, that meets an objective, and what is in the way of more",
  builder: {
    objective: {
      type: "string",
      demandOption: true,
      requiresArg: true,
      describe: 'for example "ttft_ms p99 < 800, failed < 0.1%"',
    },
    target,
    account: { type: "string", default: "valid", requiresArg: true, describe: "valid, a tier, limited.0, …" },
    workload: { type: "string", requiresArg: true, describe: "workload file whose mix of requests is sent" },
    streams: { type: "boolean", default: false, describe: "search for streams in flight, not for requests per second" },
    from: { type: "number", requiresArg: true, describe: "level to begin with; default a quarter of the limit" },
    to: { type: "number", requiresArg: true, describe: "highest level; default a little beyond the limit" },
    "step-s": { type: "number", default: 10, requiresArg: true, describe: "seconds of a step" },
    minutes: { type: "number", default: 10, requiresArg: true, describe: "longest time" },
    seed,
    json,
    mutation,
    variant,
  },
  handler: async (argv) => {
    const { capacity } = await import("../app/capacity.ts");
    leaveExitCode(argv, await capacity({ ...argv, stepS: argv["step-s"] }));
  },
};
