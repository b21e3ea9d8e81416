import { useCase } from "../../app/index.ts";
import { defineCommand, withControl } from "../define-command.ts";
import { json, mutation, seed, target, variant } from "../options.ts";

/** `gauntlet capacity`: how much load still meets an objective. */
export const capacityCommand = defineCommand({
  command: "capacity",
  describe: "Find the highest rate, or number of streams, that meets an objective, and what limits it",
  examples: [
    ["gauntlet capacity --objective 'ttft_ms p99 < 800, failed < 0.1%' --streams", "how many streams begin in time"],
    [
      "gauntlet capacity --objective 'response_ms p99 < 500' --account growth",
      "how many requests per second end in time",
    ],
  ],
  builder: (yargs) =>
    yargs.options({
      objective: {
        type: "string",
        demandOption: true,
        requiresArg: true,
        describe: 'for example "ttft_ms p99 < 800, failed < 0.1%"',
      },
      target,
      account: {
        type: "string",
        default: "valid",
        requiresArg: true,
        describe: "account to load: valid, starter, growth, scale, limited.0, …",
      },
      workload: { type: "string", requiresArg: true, describe: "workload file whose mix of requests is sent" },
      streams: {
        type: "boolean",
        default: false,
        describe: "search for streams in flight, not for requests per second",
      },
      from: { type: "number", requiresArg: true, describe: "first level; default: a quarter of the limit" },
      to: { type: "number", requiresArg: true, describe: "highest level; default: 1.2 times the limit" },
      "step-s": { type: "number", default: 10, requiresArg: true, describe: "length of a step, seconds" },
      minutes: { type: "number", default: 10, requiresArg: true, describe: "longest duration of the search, minutes" },
      seed,
      json,
      mutation,
      variant,
    }),
  run: async (argv) => {
    const { capacity } = await useCase.capacity();
    return withControl((control) => capacity(argv, control), { quiet: false });
  },
});
