import { existsSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { renderHistory, renderHistoryPage } from "../../../reports/index.ts";
import { EXIT, type ExitCode, messageOf, UsageError } from "../../core/index.ts";
import {
  HistoryFile,
  type HistoryReport,
  judgeTrends,
  lostChecks,
  type StoredRun,
  trendsOf,
} from "../../history/index.ts";
import { type RunRecord, writeAtomically } from "../../record/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { isFolder, runFolders } from "../../run/open/index.ts";
import { readOrRecover } from "../../run/record/index.ts";

export interface HistoryOptions {
  /** Folders of runs, folders that contain such folders, or one history file. */
  readonly paths: readonly string[];
  readonly db: string;
  /** Prefixes of the metrics to show; default: all. */
  readonly metric: readonly string[];
  /** A run id or a date; older runs are omitted. */
  readonly since?: string | undefined;
  /** Percent. */
  readonly margin: number;
  readonly gate: boolean;
  readonly html?: string | undefined;
}

/**
 * Stores runs in a SQLite file, and shows how their metrics developed: those of the file, or of the runs in the folders.
 *
 * @throws UsageError for a path that is neither, and for an unknown run or metric.
 */
export async function history(options: HistoryOptions): Promise<Outcome> {
  const { paths, db, html } = options;
  const [only = db] = paths;
  const isFile = paths.length === 1 && !isFolder(only);
  const file = isFile ? only : db;
  const found = isFile ? [] : paths.flatMap((path) => runFolders(path, { hint: HINT }));
  assertReadable(found);
  using kept = await HistoryFile.open(file, { make: found.length > 0 });
  const { folders, ...imported } = importRuns(kept, found);
  const named = found.length === 0 ? undefined : new Set(folders.keys());
  const known = since(kept.runs(), options.since);
  const runs = comparable(known, named);
  const isSelected = (name: string) =>
    options.metric.length === 0 || options.metric.some((prefix) => name.startsWith(prefix));
  const trends = trendsOf(runs, { margin: options.margin / 100, isSelected });
  if (trends.length === 0 && options.metric.length > 0)
    throw new UsageError(`no run has a metric ${options.metric.join(" or ")}`, {
      hint: `\`gauntlet history ${file}\` lists the metrics.`,
    });
  const lost = isSelected("checks") ? lostChecks(known, named) : [];
  const withFolders = runs.map((run) => {
    const folder = folders.get(run.runId);
    return folder === undefined ? run : { ...run, folder };
  });
  const shown = { file, ...imported, runs: withFolders, trends, lostChecks: lost };
  const judged: HistoryReport = { ...shown, ...judgeTrends(shown) };
  if (html !== undefined)
    writeAtomically(
      html,
      renderHistoryPage(judged, (folder) => reportFrom(html, folder)),
    );
  const exitCode = options.gate ? GATE_EXIT[judged.verdict] : EXIT.pass;
  return {
    exitCode,
    document: documentOf(judged, exitCode),
    text: (colors) => renderHistory(judged, colors, { exitCode, gate: options.gate }),
  };
}

/** Relative address of the report of a run, as the page `html` links to it. */
function reportFrom(html: string, folder: string): string | undefined {
  const report = resolve(folder, "report.html");
  if (!existsSync(report)) return undefined;
  return relative(dirname(resolve(html)), report)
    .split(sep)
    .map(encodeURIComponent)
    .join("/");
}

const HINT = "Name folders of runs, folders with such folders, or a single history file.";

const GATE_EXIT = { pass: EXIT.pass, fail: EXIT.gateFailed, inconclusive: EXIT.inconclusive } as const satisfies Record<
  HistoryReport["verdict"],
  ExitCode
>;

function documentOf({ trends, runs, ...rest }: HistoryReport, exitCode: ExitCode): object {
  return {
    ...rest,
    exitCode,
    runs: runs.map(({ measured: _, checks: _statuses, ...run }) => run),
    metrics: trends,
  };
}

/** @throws UsageError if not one of these folders has a run that can be read. Nothing is stored then. */
function assertReadable(found: readonly string[]): void {
  let firstWhy: string | undefined;
  for (const dir of found) {
    try {
      readOrRecover(dir);
      return;
    } catch (error) {
      firstWhy ??= messageOf(error);
    }
  }
  if (firstWhy !== undefined)
    throw new UsageError(`none of these folders contains a readable run: ${firstWhy}`, { hint: HINT });
}

interface Imported {
  /** Of all runs in the folders, new or not, by run id. */
  readonly folders: ReadonlyMap<string, string>;
  readonly imported: number;
  readonly known: number;
  readonly comparisons: number;
  readonly notImported: HistoryReport["notImported"];
}

function importRuns(kept: HistoryFile, found: readonly string[]): Imported {
  const folders = new Map<string, string>();
  const notImported: { dir: string; why: string }[] = [];
  let imported = 0;
  let comparisons = 0;
  for (const dir of found) {
    try {
      const record = readOrRecover(dir);
      if (isOfStoredRuns(record)) {
        comparisons++;
        continue;
      }
      if (kept.add(record)) imported++;
      folders.set(record.runId, dir);
    } catch (error) {
      notImported.push({ dir, why: messageOf(error) });
    }
  }
  return { folders, imported, known: folders.size - imported, comparisons, notImported };
}

/** A comparison of two runs has the id and the results of the second one. */
const isOfStoredRuns = ({ command, comparison }: RunRecord): boolean =>
  command === "compare" && comparison?.kind === "stored";

/** @throws UsageError when it is neither a run nor a date. */
function since(runs: readonly StoredRun[], from: string | undefined): readonly StoredRun[] {
  if (from === undefined) return runs;
  const startedAt = runs.find(({ runId }) => runId === from)?.startedAt;
  const fromMs = Date.parse(startedAt ?? from);
  if (Number.isNaN(fromMs))
    throw new UsageError(`--since: "${from}" is neither a run of the history nor a date`, {
      hint: "Dates are written 2026-11-24 or 2026-11-24T18:00:00Z.",
    });
  return runs.filter((run) => Date.parse(run.startedAt) >= fromMs);
}

/** Runs that are comparable with the given ones: the same target and the same workload. */
function comparable(runs: readonly StoredRun[], ids: ReadonlySet<string> | undefined): readonly StoredRun[] {
  if (ids === undefined) return runs;
  const keysOf = ({ target, address, measured }: StoredRun) =>
    measured.map((part) => ({
      part,
      key: JSON.stringify([target, address, part.name, part.workload, part.machine]),
    }));
  const required = new Set(
    runs.filter(({ runId }) => ids.has(runId)).flatMap((run) => keysOf(run).map(({ key }) => key)),
  );
  return runs.flatMap((run) => {
    const measured = keysOf(run).flatMap(({ part, key }) => (required.has(key) ? [part] : []));
    return measured.length > 0 || ids.has(run.runId) ? [{ ...run, measured }] : [];
  });
}
