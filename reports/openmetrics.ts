import type { LatencyFigure } from "../src/metrics/index.ts";
import { type LoadPhase, type LoadRun, type Quantiles, type RunRecord, STATUSES } from "../src/record/index.ts";
import { oneLine } from "./clean-text.ts";

/** A value of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly unit?: "seconds";
  readonly samples: readonly Sample[];
}

/**
 * The figures of a run as OpenMetrics text, for dashboards and push gateways. Every metric is a gauge: a run happens once, so
 * no counter continues from it.
 * @see https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
 */
export function renderOpenMetrics(record: RunRecord): string {
  const target = { target: record.target.name };
  const runs = record.load?.runs ?? [];
  const families: Family[] = [
    {
      name: "gauntlet_run",
      help: "The run, as labels.",
      samples: [
        {
          labels: { ...target, run_id: record.runId, command: record.command, verdict: record.verdict.result },
          value: 1,
        },
      ],
    },
    {
      name: "gauntlet_exit_code",
      help: "Exit code of the run.",
      samples: [{ labels: target, value: record.verdict.exitCode }],
    },
    {
      name: "gauntlet_run_duration_seconds",
      unit: "seconds",
      help: "How long the run took.",
      samples: [{ labels: target, value: record.durationMs / 1_000 }],
    },
    {
      name: "gauntlet_checks",
      help: "Checks by suite and status.",
      samples: checksBySuite(record).map((sample) => ({ ...sample, labels: { ...target, ...sample.labels } })),
    },
    ...loadFamilies(runs).map((family) => ({
      ...family,
      samples: family.samples.map((sample) => ({ ...sample, labels: { ...target, ...sample.labels } })),
    })),
  ];
  return `${families
    .filter(({ samples }) => samples.length > 0)
    .map(familyText)
    .join("")}# EOF\n`;
}

function checksBySuite(record: RunRecord): Sample[] {
  const suites = [...new Set(record.checks.map(({ suite }) => suite))];
  return suites.flatMap((suite) =>
    STATUSES.flatMap((status) => {
      const value = record.checks.filter((check) => check.suite === suite && check.status === status).length;
      return value === 0 ? [] : [{ labels: { suite, status }, value }];
    }),
  );
}

/** Phase field, name, help. */
export const COUNTS = [
  ["offered", "gauntlet_offered_requests", "Requests that the plan scheduled."],
  ["admitted", "gauntlet_admitted_requests", "Requests that were admitted."],
  ["denied", "gauntlet_denied_requests", "Requests that were denied with a reason."],
  ["failed", "gauntlet_failed_requests", "Requests that failed."],
  ["invalid", "gauntlet_invalid_requests", "Complete 2xx replies that no client could use."],
  ["dropped", "gauntlet_dropped_requests", "Arrivals that could not be sent."],
] as const satisfies readonly (readonly [keyof LoadPhase, string, string])[];

const SESSIONS = [
  ["started", "gauntlet_sessions_started", "Sessions that began."],
  ["completed", "gauntlet_sessions_completed", "Sessions of which every turn was admitted."],
] as const;

const GOODPUT = [
  ["requestsPerS", "gauntlet_goodput_requests_per_second", "Requests per second that met every objective."],
  ["tokensPerS", "gauntlet_goodput_tokens_per_second", "Output tokens per second of these requests."],
  ["share", "gauntlet_goodput_ratio", "Share of the arrivals that met every objective."],
] as const satisfies readonly (readonly [keyof NonNullable<LoadRun["phases"][number]["goodput"]>, string, string])[];

/** Figure, name, help. */
export const LATENCIES = [
  ["response", "gauntlet_response_seconds", "From the due time to the end."],
  ["service", "gauntlet_service_seconds", "Time from sending the request to the end of the response."],
  ["ttft", "gauntlet_ttft_seconds", "Time from sending the request to the first output of any kind."],
  ["itl", "gauntlet_inter_token_seconds", "Gaps between consecutive tokens."],
  ["eventGap", "gauntlet_event_gap_seconds", "Gaps between consecutive events with output."],
] as const satisfies readonly (readonly [LatencyFigure, string, string])[];

export const QUANTILES = [
  ["p50", "0.5"],
  ["p90", "0.9"],
  ["p95", "0.95"],
  ["p99", "0.99"],
  ["p999", "0.999"],
  ["max", "1"],
] as const satisfies readonly (readonly [keyof Quantiles, string])[];

function loadFamilies(runs: readonly LoadRun[]): Family[] {
  /** One value for each phase that has it. */
  const perPhase = (name: string, help: string, read: (phase: LoadPhase) => number | null | undefined): Family => ({
    name,
    help,
    samples: runs.flatMap((run) =>
      run.phases.flatMap((phase) => {
        const value = read(phase) ?? null;
        return value === null ? [] : [{ labels: { run: run.name, phase: phase.name }, value }];
      }),
    ),
  });
  const latency = LATENCIES.map(
    ([figure, name, help]): Family => ({
      name,
      unit: "seconds",
      help,
      samples: runs.flatMap((run) =>
        run.phases.flatMap((phase) =>
          phase.classes.flatMap((entry) => {
            const quantiles = entry[`${figure}Ms`];
            if (quantiles === null) return [];
            const labels = {
              run: run.name,
              phase: phase.name,
              dialect: entry.dialect,
              stream: String(entry.stream),
              outcome: entry.outcome,
            };
            return QUANTILES.map(([quantile, label]) => ({
              labels: { ...labels, quantile: label },
              value: quantiles[quantile] / 1_000,
            }));
          }),
        ),
      ),
    }),
  );
  return [
    ...COUNTS.map(([field, name, help]) => perPhase(name, help, (phase) => phase[field])),
    perPhase("gauntlet_peak_in_flight", "Maximum number of requests in flight.", ({ peakInFlight }) => peakInFlight),
    ...SESSIONS.map(([field, name, help]) => perPhase(name, help, ({ sessions }) => sessions?.[field])),
    ...GOODPUT.map(([field, name, help]) => perPhase(name, help, ({ goodput }) => goodput?.[field])),
    {
      name: "gauntlet_retry_after_sufficient_ratio",
      help: "Share of tested Retry-After waits that were sufficient.",
      samples: runs.flatMap((run) => {
        const share = run.retryAfter?.sufficientShare ?? null;
        return share === null ? [] : [{ labels: { run: run.name }, value: share }];
      }),
    },
    {
      name: "gauntlet_generator_valid",
      help: "1 if the generator stayed within its bounds.",
      samples: runs.map((run) => ({ labels: { run: run.name }, value: Number(run.generator.valid) })),
    },
    ...latency,
  ];
}

function familyText({ name, help, unit, samples }: Family): string {
  return [
    `# TYPE ${name} gauge\n`,
    unit === undefined ? "" : `# UNIT ${name} ${unit}\n`,
    `# HELP ${name} ${help}\n`,
    ...samples.map(({ labels, value }) => `${name}{${labelText(labels)}} ${number(value)}\n`),
  ].join("");
}

function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(",");
}

/** Escapes backslash, quote and line feed. */
function escapeLabel(text: string): string {
  return oneLine(text, 200).replaceAll("\\", "\\\\").replaceAll('"', '\\"');
}

function number(value: number): string {
  return Number.isFinite(value) ? String(value) : value > 0 ? "+Inf" : value < 0 ? "-Inf" : "NaN";
}
