import {
  baseline,
  defineCommand,
  flag,
  json,
  k6,
  mutation,
  number,
  out,
  policy,
  replicas,
  seed,
  target,
  text,
  variant,
  withControl,
} from "../../terminal/index.ts";

export const loadCommand = defineCommand({
  command: "load <what..>",
  describe: "Generate load: a tier (starter, growth, scale, own), a shipped workload (peak, soak, stress) or a file",
  examples: [
    ["gauntlet load starter --target gauntlet.yaml --live", "the load phases of a tier, with a page to watch them"],
    ["gauntlet load workload.yaml --target gauntlet.yaml --dry-run", "what a workload would send"],
  ],
  builder: (yargs) =>
    yargs
      .positional("what", { type: "string", array: true, demandOption: true, describe: "tier, workload or file" })
      .options({
        target,
        json,
        out,
        seed,
        mutation,
        replicas,
        variant,
        engine: text("load engine: native, autocannon (closed loops) or k6"),
        brief: flag("tier runs: do not wait for a Retry-After of over 40 s"),
        workers: { type: "number", default: 0, describe: "worker threads that share the load; 0: none" },
        instances: { type: "number", default: 1, describe: "with k6: processes that share the schedule exactly" },
        k6,
        shard: text("send one share of a workload, as in 3/8"),
        "start-at": text("with --shard: when all shares begin, a date-time with zone or seconds since the epoch"),
        "time-source": text("with --shard: URL whose Date header is the clock; default: the target's"),
        live: flag("serve a page on 127.0.0.1 that shows the run live"),
        "live-port": number("port of the live page; default: any free one"),
        otlp: text("export metrics and sampled spans to this OpenTelemetry collector, such as http://127.0.0.1:4318"),
        "metrics-port": number("serve Prometheus metrics on this port of 127.0.0.1 during the run; 0: any free one"),
        "watch-pid": number(
          "process of the target on this machine: its CPU, memory, files and threads are sampled (Linux)",
        ),
        "watch-unit": text("the same for a systemd unit of the target, or for a control group by its path"),
        "watch-metrics": text("Prometheus endpoint of the target: its series are recorded and shown with the load"),
        "watch-series": {
          ...text("regular expression that selects the series; default: process, runtime, request counters"),
          implies: "watch-metrics",
        },
        "watch-key": { ...text("env:NAME, the bearer token for the Prometheus endpoint"), implies: "watch-metrics" },
        "watch-interval-s": number("seconds between two samples of the target; default 1"),
        until: text(
          "end as soon as a figure is known this precisely, such as 'ttft_ms p99 within 5%'; exit code 4 if it is not known in time",
        ),
        "at-most": {
          ...number("with --until: maximum duration, seconds; default: the duration of the workload"),
          implies: "until",
        },
        policy: { ...policy, describe: "policy file; only its gates on load apply" },
        baseline,
        "dry-run": flag("print the plan and send nothing"),
      }),
  run: async (argv) => {
    const { load } = await import("./run.ts");
    return withControl((control) => load(argv, control), { quiet: argv.json });
  },
});
