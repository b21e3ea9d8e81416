import {
  baseline,
  defineCommand,
  flag,
  grouped,
  json,
  k6,
  mutation,
  number,
  out,
  PORTS,
  policy,
  replicas,
  requiredArray,
  seed,
  target,
  text,
  variant,
  withControl,
} from "../../terminal/index.ts";

/** With more threads on one machine, coordination outweighs the load. */
const WORKERS = { min: 0, max: 64 };
const INSTANCES = { min: 1, max: 256 };

export const loadCommand = defineCommand({
  command: "load <what..>",
  describe: "Generate load: a tier (starter, growth, scale, own), a built-in workload or a workload file",
  examples: [
    ["gauntlet load starter --target gauntlet.yaml --live", "the load phases of a tier, with a page to watch them"],
    ["gauntlet load workload.yaml --target gauntlet.yaml --dry-run", "what a workload would send"],
  ],
  builder: (yargs) =>
    yargs
      .positional("what", {
        ...requiredArray,
        describe:
          "tier; built-in workload: peak, soak, stress, kill, rolling-restart, rolling-restart-capacity, slow-upstream, upstream-outage, counter-store-outage, counter-store-limits, counter-store-cost; or file",
      })
      .options({
        ...grouped("Where", { target, mutation, variant, replicas }),
        ...grouped("What to send", {
          seed,
          brief: flag("tier runs: shorter, a Retry-After of more than 40 s is not waited out"),
          "dry-run": flag("print the plan and send nothing"),
        }),
        ...grouped("Limits of the run", {
          until: text("end once a figure is this precise, such as 'ttft_ms p99 within 5%'; exit code 4 if it never is"),
          "at-most": {
            ...number("with --until: maximum duration, seconds; default: that of the workload", {
              min: 1,
              max: 86_400,
              fractions: true,
            }),
            implies: "until",
          },
        }),
        ...grouped("Judging", {
          policy: { ...policy, describe: "policy file; only its gates on load apply" },
          baseline,
        }),
        ...grouped("Output", {
          json,
          out,
          live: flag("serve a page on 127.0.0.1 that shows the run live"),
          "live-port": number("port of the live page; default: any free one", PORTS),
          otlp: text("OpenTelemetry collector for metrics and sampled spans, such as http://127.0.0.1:4318"),
          "metrics-port": number("serve Prometheus metrics on this port of 127.0.0.1; 0: any free one", PORTS),
        }),
        ...grouped("Advanced: watching the target's own resources during the load", {
          "watch-pid": number("sample CPU, memory, files and threads of this process (Linux)", {
            min: 1,
            max: 2 ** 31 - 1,
          }),
          "watch-unit": text("the same for a systemd unit, or for a control group by its path"),
          "watch-metrics": text("Prometheus endpoint whose series are recorded with the load"),
          "watch-series": {
            ...text("regular expression that selects series; default: process, runtime, request counters"),
            implies: "watch-metrics",
          },
          "watch-key": { ...text("env:NAME, the bearer token for the Prometheus endpoint"), implies: "watch-metrics" },
          "watch-interval-s": number("seconds between two samples; default 1", { min: 0.2, max: 60, fractions: true }),
        }),
        ...grouped("Advanced: engines and several processes", {
          engine: text("native, autocannon (closed loops) or k6; default: the workload's, else native"),
          workers: { ...number("worker threads that share the load; 0: none", WORKERS), default: 0 },
          k6,
          instances: {
            ...number("with k6: processes that share the schedule exactly", INSTANCES),
            default: 1,
          },
          shard: text("send one share of a workload, as in 3/8"),
          "start-at": text("with --shard: common start, a date-time with zone or seconds since the epoch"),
          "time-source": text("with --shard: URL whose Date header is the clock; default: the target's"),
        }),
      }),
  run: async (argv) => {
    const { load } = await import("./run.ts");
    return withControl((control) => load(argv, control), { quiet: argv.json });
  },
});
