import {
  defineCommand,
  flag,
  grouped,
  json,
  LENGTHS_S,
  mutation,
  number,
  out,
  replicas,
  seed,
  target,
  text,
  variant,
  withControl,
} from "../../terminal/index.ts";

/** `gauntlet capacity`: how much load still meets an objective. */
export const capacityCommand = defineCommand({
  command: "capacity",
  describe: "Find the highest rate, or number of streams, that meets an objective, and what limits it",
  examples: [
    [
      "gauntlet capacity --objective 'ttft_ms p99 < 800, failed < 0.1%' --streams",
      "how many streams still get their first token within 800 ms (p99)",
    ],
    [
      "gauntlet capacity --objective 'response_ms p99 < 500' --account growth",
      "how many requests/s still end within 500 ms (p99)",
    ],
  ],
  builder: (yargs) =>
    yargs.options({
      ...grouped("Target", {
        target,
        account: { ...text("account to load: valid, starter, growth, scale, limited.0, …"), default: "valid" },
        mutation,
        variant,
        replicas,
      }),
      ...grouped("Search", {
        objective: { ...text('what must hold, for example "ttft_ms p99 < 800, failed < 0.1%"'), demandOption: true },
        streams: flag("search for streams in flight, not for requests per second"),
        workload: text("workload file whose mix of requests is sent"),
        from: number("first level; default: a quarter of the limit", { min: 0, max: 1e9, fractions: true }),
        to: number("highest level; default: 1.2 times the limit", { min: 0, max: 1e9, fractions: true }),
        "step-s": { ...number("length of a step, seconds", LENGTHS_S), default: 10 },
        minutes: {
          ...number("longest duration of the search, minutes", { min: 0, max: 24 * 60, fractions: true }),
          default: 10,
        },
        seed,
      }),
      ...grouped("Output", {
        json,
        out: { ...out, describe: "folder for result.json and report.html; default: neither is written" },
      }),
    }),
  run: async (argv) => {
    const { capacity } = await import("./run.ts");
    return withControl((control) => capacity(argv, control), { quiet: false });
  },
});
