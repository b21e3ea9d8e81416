import { useCase } from "../../app/index.ts";
import { defineCommand, withControl } from "../define-command.ts";
import { json, k6, mutation, out, seed, target, variant } from "../options.ts";

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
        variant,
        engine: {
          type: "string",
          describe: "load engine: native, autocannon (closed loops) or k6",
          requiresArg: true,
        },
        brief: { type: "boolean", default: false, describe: "tier runs: do not wait for a Retry-After of over 40 s" },
        workers: { type: "number", default: 0, describe: "worker threads that share the load; 0: none" },
        instances: { type: "number", default: 1, describe: "with k6: processes that share the schedule exactly" },
        k6,
        shard: { type: "string", requiresArg: true, describe: "send one share of a workload, as in 3/8" },
        "start-at": {
          type: "string",
          requiresArg: true,
          describe: "with --shard: when all shares begin, a date-time with zone or seconds since the epoch",
        },
        "time-source": {
          type: "string",
          requiresArg: true,
          describe: "with --shard: URL whose Date header is the clock; default: the target's",
        },
        live: { type: "boolean", default: false, describe: "serve a page on 127.0.0.1 that shows the run live" },
        "live-port": {
          type: "number",
          describe: "port of the live page; default: any free one",
          requiresArg: true,
        },
        otlp: {
          type: "string",
          describe: "export metrics and sampled spans to this OpenTelemetry collector, such as http://127.0.0.1:4318",
          requiresArg: true,
        },
        "metrics-port": {
          type: "number",
          describe: "serve Prometheus metrics on this port of 127.0.0.1 during the run; 0: any free one",
          requiresArg: true,
        },
        "watch-pid": {
          type: "number",
          requiresArg: true,
          describe: "process of the target on this machine: its CPU, memory, files and threads are sampled (Linux)",
        },
        "watch-unit": {
          type: "string",
          requiresArg: true,
          describe: "the same for a systemd unit of the target, or for a control group by its path",
        },
        "watch-metrics": {
          type: "string",
          requiresArg: true,
          describe: "Prometheus endpoint of the target: its series are recorded and shown with the load",
        },
        "watch-series": {
          type: "string",
          requiresArg: true,
          implies: "watch-metrics",
          describe: "regular expression that selects the series; default: process, runtime, request counters",
        },
        "watch-key": {
          type: "string",
          requiresArg: true,
          implies: "watch-metrics",
          describe: "env:NAME, the bearer token for the Prometheus endpoint",
        },
        "watch-interval-s": {
          type: "number",
          requiresArg: true,
          describe: "seconds between two samples of the target; default 1",
        },
        until: {
          type: "string",
          requiresArg: true,
          describe:
            "end as soon as a figure is known this precisely, such as 'ttft_ms p99 within 5%'; exit code 4 if it is not known in time",
        },
        "at-most": {
          type: "number",
          requiresArg: true,
          implies: "until",
          describe: "with --until: longest duration, seconds; default: the duration of the workload",
        },
        "dry-run": { type: "boolean", default: false, describe: "print the plan and send nothing" },
      }),
  run: async (argv) => {
    const { load } = await useCase.load();
    return withControl((control) => load(argv, control), { quiet: argv.json });
  },
});
