import { Counter, Gauge, Registry } from "prom-client";
import { COUNTS, LATENCIES, QUANTILES, type Sample } from "../../../reports/index.ts";
import type { Histogram } from "../../metrics/index.ts";
import type { LoadClass, LoadPhase } from "../../record/index.ts";

/** The current state of a running phase. */
interface PhaseSoFar {
  readonly run: string;
  readonly phase: string;
  readonly counts: Pick<LoadPhase, (typeof COUNTS)[number][0]>;
  readonly inFlight: number;
  readonly connections: number;
  /** Send time minus due time. */
  readonly lag: Histogram;
  readonly classes: readonly (Pick<LoadClass, "dialect" | "stream" | "outcome"> & {
    /** Microseconds, by the name of the figure. */
    readonly figures: ReadonlyMap<string, Histogram>;
  })[];
}

export interface LoadSoFar {
  /** Name of the target. */
  readonly target: string;
  readonly phases: readonly PhaseSoFar[];
  /** During the last second. */
  readonly loopDelayP99Ms: number;
}

interface Family {
  readonly name: string;
  readonly help: string;
  /** Defaults to gauge. */
  readonly type?: "counter";
  readonly samples: readonly Sample[];
}

/**
 * Metrics of a running load for Prometheus to scrape, under the names that `renderOpenMetrics` uses for a finished run: counts
 * are counters, latencies are the current quantiles with sum and count.
 */
export function prometheusMetrics({ target, phases, loopDelayP99Ms }: LoadSoFar): Registry {
  const perPhase = (read: (phase: PhaseSoFar) => number): Sample[] =>
    phases.map((phase) => ({ labels: { target, run: phase.run, phase: phase.phase }, value: read(phase) }));
  const families: Family[] = [
    ...COUNTS.map(
      ([field, name, help]): Family => ({
        name,
        help,
        type: "counter",
        samples: perPhase(({ counts }) => counts[field]),
      }),
    ),
    { name: "gauntlet_in_flight", help: "Requests in flight now.", samples: perPhase(({ inFlight }) => inFlight) },
    {
      name: "gauntlet_connections",
      help: "Connections that were opened.",
      type: "counter",
      samples: perPhase(({ connections }) => connections),
    },
    ...latencies(
      { name: "gauntlet_schedule_lag_seconds", help: "Send time minus due time." },
      phases.map(({ run, phase, lag }) => ({ labels: { target, run, phase }, histogram: lag })),
    ),
    {
      name: "gauntlet_loop_delay_seconds",
      help: "Delay of the generator's event loop in the last second.",
      samples: [{ labels: { target, quantile: "0.99" }, value: loopDelayP99Ms / 1_000 }],
    },
    ...LATENCIES.flatMap(([figure, name, help]) =>
      latencies(
        { name, help },
        phases.flatMap(({ run, phase, classes }) =>
          classes.flatMap(({ dialect, stream, outcome, figures }) => {
            const histogram = figures.get(figure);
            const labels = { target, run, phase, dialect, stream: String(stream), outcome };
            return histogram === undefined ? [] : [{ labels, histogram }];
          }),
        ),
      ),
    ),
  ];
  const registry = new Registry();
  for (const { name, help, type, samples } of families) {
    // The library would show a metric without samples as 0.
    if (samples[0] === undefined) continue;
    const options = { name, help, labelNames: Object.keys(samples[0].labels), registers: [registry] };
    if (type === "counter") {
      const counter = new Counter(options);
      for (const { labels, value } of samples) counter.inc(labels, value);
    } else {
      const gauge = new Gauge(options);
      for (const { labels, value } of samples) gauge.set(labels, value);
    }
  }
  return registry;
}

interface Measured {
  readonly labels: Sample["labels"];
  readonly histogram: Histogram;
}

/** A gauge, as in the export of a finished run, and two counters. Not a summary: some parsers drop its labels. */
function latencies({ name, help }: Pick<Family, "name" | "help">, measured: readonly Measured[]): Family[] {
  const quantiles = measured.flatMap(({ labels, histogram }) => {
    const values = histogram.quantilesMs();
    if (values === null) return [];
    return QUANTILES.map(([field, quantile]) => ({ labels: { ...labels, quantile }, value: values[field] / 1_000 }));
  });
  const counter = (suffix: string, what: string, read: (histogram: Histogram) => number): Family => ({
    name: `${name}_${suffix}`,
    help: `${help} ${what}`,
    type: "counter",
    samples: measured.map(({ labels, histogram }) => ({ labels, value: read(histogram) })),
  });
  return [
    { name, help, samples: quantiles },
    counter("sum", "Sum of all values.", ({ sumUs }) => sumUs / 1_000_000),
    counter("count", "Number of values.", ({ count }) => count),
  ];
}
