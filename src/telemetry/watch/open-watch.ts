import { keyByReference, UsageError } from "../../core/index.ts";
import type { DeclaredProcesses } from "./declared-processes.ts";
import type { MetricsOptions } from "./metrics-watch.ts";
import type { TargetWatch } from "./target-watch.ts";

/** What to watch of the target during a load. */
export interface TargetWatchOptions {
  /** Process of the target on this machine: it and its descendants are sampled. */
  readonly watchPid?: number | undefined;
  /** The same for a systemd unit, or for a control group by its path. */
  readonly watchUnit?: string | undefined;
  /** Prometheus endpoint of the target. */
  readonly watchMetrics?: string | undefined;
  /** Regular expression that selects the recorded series. */
  readonly watchSeries?: string | undefined;
  /** `env:NAME`: sent as a bearer token. */
  readonly watchKey?: string | undefined;
  /** Seconds between two samples; default 1. */
  readonly watchIntervalS?: number | undefined;
  /** Only shows what would be sent: the options are validated, and nothing is scraped. */
  readonly dryRun: boolean;
}

/**
 * Starts the requested watches.
 *
 * @param onNotice receives problems that occur during the load.
 * @param declared what the target file says; the options replace its processes.
 * @throws UsageError for invalid options, and for processes that cannot be found.
 * @throws ConfigError for declared files that cannot be used.
 */
export async function openTargetWatch(
  options: TargetWatchOptions,
  onNotice: (text: string) => void,
  declared?: DeclaredProcesses,
): Promise<TargetWatch | undefined> {
  const { watchPid, watchUnit, watchMetrics, watchIntervalS } = options;
  if (watchPid === undefined && watchUnit === undefined && watchMetrics === undefined && declared === undefined) {
    if (watchIntervalS !== undefined)
      throw new UsageError("--watch-interval-s has no effect if nothing is watched", {
        hint: "Add --watch-pid, --watch-unit or --watch-metrics.",
      });
    return undefined;
  }
  if (watchPid !== undefined && watchUnit !== undefined)
    throw new UsageError("--watch-pid and --watch-unit cannot be combined: both name the watched processes", {
      hint: "Omit one of them.",
    });
  const intervalMs = (watchIntervalS ?? 1) * 1_000;
  const metrics =
    watchMetrics === undefined ? undefined : { ...metricsOptions(watchMetrics, options), intervalMs, onNotice };
  const processes = await processesOf(options);
  if (options.dryRun) return undefined;
  const own = declared && (await declaredIn(declared, onNotice));
  const { TargetWatch } = await import("./target-watch.ts");
  return TargetWatch.open({ intervalMs, processes: processes ?? own?.processes, logs: own?.logs, metrics });
}

async function declaredIn(declared: DeclaredProcesses, onNotice: (text: string) => void) {
  const { declaredProcesses, hasProc } = await import("./declared-processes.ts");
  if (declared.pidFiles.length > 0 && !hasProc())
    onNotice("processes.pidFiles: the CPU time of processes cannot be measured here, because this is not Linux");
  return declaredProcesses(declared);
}

async function processesOf({ watchPid, watchUnit }: TargetWatchOptions) {
  if (watchPid !== undefined) return (await import("./process-tree.ts")).processTree(watchPid);
  return watchUnit === undefined ? undefined : (await import("./unit-processes.ts")).unitProcesses(watchUnit);
}

function metricsOptions(
  url: string,
  { watchSeries: pattern, watchKey }: TargetWatchOptions,
): Pick<MetricsOptions, "url" | "key" | "pattern"> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.username !== "" || parsed.password !== "")
    throw new UsageError(
      "--watch-metrics takes the http or https address of a Prometheus endpoint, without user or password",
      {
        hint: "Such as http://127.0.0.1:9090/metrics; --watch-key env:NAME sends a bearer token.",
      },
    );
  if (pattern !== undefined) assertPattern(pattern);
  return { url, pattern, key: watchKey === undefined ? undefined : keyByReference("--watch-key", watchKey) };
}

function assertPattern(pattern: string): void {
  try {
    new RegExp(pattern);
  } catch (error) {
    throw new UsageError(`--watch-series takes a regular expression, not "${pattern}"`, {
      hint: "It is looked for in name{label=\"value\"}, as in --watch-series '^http_requests_total'.",
      cause: error,
    });
  }
}
