import { join } from "node:path";
import { formatCount, formatNumber } from "../../src/core/index.ts";
import { countStatuses, type RunRecord, STATUSES, type Status } from "../../src/record/index.ts";
import { oneLine } from "../clean-text.ts";
import { describeExitCode, describeProfiles } from "../text/index.ts";
import type { Colors, TerminalOptions } from "./options.ts";

/** Reasons that are listed with the verdict; for a failed run these are its causes. */
const MAX_REASONS = 3;

/** The first line of a verdict, coloured. */
export function paintedHeadline(
  { result, headline }: Pick<RunRecord["verdict"], "result" | "headline">,
  colors: Colors,
): string {
  const paint = result === "pass" ? colors.green : result === "fail" ? colors.red : colors.yellow;
  return paint(colors.bold(oneLine(headline)));
}

/** The last lines of a run at a terminal, which a person reads first: verdict, main reasons, counts, exit code, report. */
export function verdictLines(record: RunRecord, { colors, ...written }: Omit<TerminalOptions, "evidence">): string[] {
  const { verdict } = record;
  const counts = countsText(record);
  return [
    ...(record.profiles === undefined ? [] : [colors.bold(oneLine(describeProfiles(record.profiles)))]),
    paintedHeadline(verdict, colors),
    ...reasonLines(verdict),
    `${counts}${counts === "" ? "" : " in "}${formatNumber(record.durationMs / 1_000, 1)} s, ${formatCount(record.traffic.requests, "request")}`,
    endLine(verdict, { ...written, checks: record.checks }),
  ];
}

/** `21 pass`, or with thresholds of a load, which are not checks of the gateway: `thresholds: 1 fail, 1 pass; checks: 21 pass`. */
function countsText({ checks, counts }: RunRecord): string {
  const thresholds = countStatuses(
    checks.filter(({ check }) => check === "load.thresholds").map(({ status }) => status),
  );
  const write = (of: (status: Status) => number) =>
    STATUSES.filter((status) => of(status) > 0)
      .map((status) => `${formatNumber(of(status))} ${status}`)
      .join(", ");
  const [ofThresholds, others] = [
    write((status) => thresholds[status]),
    write((status) => (counts[status] ?? 0) - thresholds[status]),
  ];
  if (ofThresholds === "") return others;
  return `thresholds: ${ofThresholds}${others === "" ? "" : `; checks: ${others}`}`;
}

/** The main reasons of a verdict, and the number of the others. */
export function reasonLines({ reasons }: Pick<RunRecord["verdict"], "reasons">): string[] {
  const listed = reasons.filter(({ kind }) => kind !== "more");
  const all = reasons.reduce((sum, { kind, count = 1 }) => sum + (kind === "more" ? count : 1), 0);
  const shown = listed.slice(0, MAX_REASONS).map(({ text }) => `  ${oneLine(text)}`);
  return [...shown, ...(all > shown.length ? [`  and ${all - shown.length} more`] : [])];
}

/** The last line of a run: its exit code, and the path of the report. */
export function endLine(
  { exitCode }: RunRecord["verdict"],
  {
    folder,
    isKept = true,
    checks = [],
  }: Pick<TerminalOptions, "folder" | "isKept"> & { readonly checks?: RunRecord["checks"] },
): string {
  return `${describeExitCode(exitCode, checks)}; ${isKept ? `report: ${join(folder, "report.html")}` : `${folder} could not be written in full; run \`gauntlet report ${folder}\` to render what was recorded`}`;
}
