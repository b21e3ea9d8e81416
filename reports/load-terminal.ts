import Table from "cli-table3";
import {
  type CheckResult,
  checkOfPhase,
  checksOfRun,
  type LoadPhase,
  type LoadRun,
  type RunRecord,
  type Status,
} from "../src/record/index.ts";
import { oneLine } from "./clean-text.ts";
import type { TerminalOptions } from "./terminal-options.ts";
import { verdictLines } from "./verdict-lines.ts";

type Colors = TerminalOptions["colors"];

/** The load half of a run for a person at a terminal: phases in a table, what is broken under it, the verdict last. */
export function renderLoad(record: RunRecord, options: Omit<TerminalOptions, "evidence">): string {
  return [renderLoadRuns(record, options.colors), ...verdictLines(record, options)].join("\n").concat("\n");
}

export function renderLoadRuns({ checks, load }: RunRecord, colors: Colors): string {
  return (load?.runs ?? []).map((run) => renderRun(run, checksOfRun(checks, run), colors)).join("\n");
}

function renderRun(run: LoadRun, checks: readonly CheckResult[], colors: Colors): string {
  const limits = run.limits === null ? "" : `, ${run.limits.rpm}/min and ${run.limits.inFlight} in flight`;
  const table = new Table({
    head: [
      "phase",
      "verdict",
      "offered",
      "sent",
      "admitted",
      "denied",
      "failed",
      "dropped",
      "in flight",
      "p50 ms",
      "p99 ms",
      "ttft p99",
    ],
    style: { head: [], border: [], compact: true },
    colAligns: ["left", "left", ...Array.from({ length: 10 }, () => "right" as const)],
  });
  for (const phase of run.phases)
    table.push(rowOf(phase, checkOfPhase(checks, run, phase)?.status ?? "not-applicable", colors));
  const { generator, retryAfter } = run;
  const lines = [colors.bold(`${oneLine(run.name)} (${run.engine}${limits})`), table.toString()];
  for (const check of checks) lines.push(...problemsOf(run, check, colors));
  if (retryAfter !== null && retryAfter.tested > 0) lines.push(`  Retry-After: ${tellWaits(retryAfter)}`);
  for (const { name, goodput } of run.phases)
    if (goodput !== undefined)
      lines.push(`  goodput${run.phases.length > 1 ? ` of ${name}` : ""}: ${tellGoodput(goodput)}`);
  const { scheduleLagMs: lag, loopDelayMs: loop } = generator;
  lines.push(
    `  generator: schedule lag p50 ${lag.p50.toFixed(1)} p99 ${lag.p99.toFixed(1)} ms${loop === null ? "" : `, loop delay p99 ${loop.p99.toFixed(1)} ms`}, ${generator.cpuS.toFixed(1)} CPU s, ${Math.round(generator.peakRssBytes / 1e6)} MB`,
  );
  for (const problem of generator.problems) lines.push(`  ${colors.yellow("?")} ${oneLine(problem)}`);
  return lines.join("\n");
}

/** A line for each finding of a check that is broken or not decided. */
function problemsOf(run: LoadRun, { id, findings }: CheckResult, colors: Colors): string[] {
  const place = id.slice(`load.${run.name}.`.length);
  const marks = { fail: colors.red("✗"), warn: colors.yellow("▲"), none: "" };
  const open = findings.filter(({ outcome }) => outcome === "undecided");
  const broken = findings.filter(({ outcome }) => outcome === "broken");
  return [
    ...open.map(({ name, observed }) => `  ${colors.yellow("?")} ${place} ${name}: not decided: ${oneLine(observed)}`),
    ...broken.map(
      ({ name, weight, expected = "", observed }) =>
        `  ${marks[weight]} ${place} ${name}: expected ${oneLine(expected)}, got ${oneLine(observed)}`,
    ),
  ];
}

/** `2 of 2 tested waits were sufficient, 712 denials`: a share of few is no percentage. */
function tellWaits({ tested, sufficient, sufficientShare, groups }: NonNullable<LoadRun["retryAfter"]>): string {
  const denials = groups.reduce((sum, group) => sum + group.denials, 0);
  const share =
    sufficientShare === null ? `${sufficient} of ${tested}` : `${(sufficientShare * 100).toFixed(1)} % of ${tested}`;
  return `${share} tested waits were sufficient, ${denials} denials`;
}

/** `18.2 requests/s and 412.0 tokens/s, 91.0 % of the arrivals; ttft_ms < 300: 95, …`. */
function tellGoodput({ requestsPerS, tokensPerS, share, objectives }: NonNullable<LoadPhase["goodput"]>): string {
  const tokens = tokensPerS === null ? "tokens unknown" : `${tokensPerS.toFixed(1)} tokens/s`;
  const ofAll = share === null ? "no arrivals" : `${(share * 100).toFixed(1)} % of the arrivals`;
  const each = objectives.map(({ text, met }) => `${met} met ${oneLine(text)}`).join(", ");
  return `${requestsPerS.toFixed(1)} requests/s and ${tokens}, ${ofAll} (${each})`;
}

function rowOf(phase: LoadPhase, verdict: Status, colors: Colors): (string | number)[] {
  const paint = verdict === "pass" ? colors.green : verdict === "fail" ? colors.red : colors.yellow;
  const admitted = phase.classes.filter(({ outcome }) => outcome === "admitted");
  // Several classes: the worst of them, named by no single number; the record has each.
  const worst = (pick: (entry: LoadPhase["classes"][number]) => number | undefined) => {
    const values = admitted.map(pick).filter((value) => value !== undefined);
    return values.length === 0 ? "" : Math.max(...values).toFixed(1);
  };
  return [
    phase.name,
    paint(verdict),
    phase.offered,
    phase.sent,
    phase.admitted,
    phase.denied,
    phase.failed,
    phase.dropped,
    phase.peakInFlight,
    worst(({ responseMs }) => responseMs?.p50),
    worst(({ responseMs }) => responseMs?.p99),
    worst(({ ttftMs }) => ttftMs?.p99),
  ];
}
