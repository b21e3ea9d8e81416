import { formatCount, formatNumber } from "../../src/core/index.ts";
import type { EventExecution, EventFigures, LoadEvent } from "../../src/record/index.ts";
import { describeKinds } from "../text/index.ts";

/** `run ./restart.sh: exit code 0 after 2.1 s; undo at 30.0 s: run ./start.sh: exit code 0`. */
export function executionText({ execution, undo }: LoadEvent): string {
  if (execution === null) return "not executed: the load ended first";
  const undone = undo === undefined ? "" : `; undo at ${undo.startedS.toFixed(1)} s: ${resultText(undo)}`;
  return `${resultText(execution)}${undone}`;
}

function resultText({ action, startedS, endedS, result, succeeded }: EventExecution): string {
  return `${action}: ${succeeded ? "" : "FAILED, "}${result} after ${(endedS - startedS).toFixed(1)} s`;
}

/** What clients noticed of an event, a sentence for each aspect. */
export function figureTexts(event: LoadEvent): string[] {
  const { figures } = event;
  if (figures === null) return [];
  const { windowS, requests, served, retryable, failed, streams } = figures;
  const { inFlight } = streams;
  return [
    `${formatCount(requests, "request")} in ${formatNumber(windowS, 1)} s: ${formatNumber(served)} served, ${formatNumber(retryable)} denied with Retry-After, ${formatNumber(failed)} failed${kindsText(figures)}`,
    ...whileItLasted(event, figures),
    ...limitText(figures),
    ...(inFlight.count === 0
      ? []
      : [
          `${formatCount(inFlight.count, "stream")} in flight: ${inFlight.finished} finished, ${inFlight.interrupted} ended with an error event, ${inFlight.truncated} truncated${inFlight.other === 0 ? "" : `, ${inFlight.other} without a response`}`,
        ]),
    recoveryText(figures),
  ];
}

/**
 * How requests ended that were due in the whole seconds between the end of an action and its undoing: whether a gateway without its
 * counters, for example, lets requests through or denies them. Nothing for an event that is over at once.
 */
function whileItLasted({ atS, execution, undo }: LoadEvent, figures: EventFigures): string[] {
  if (execution === null || undo === undefined) return [];
  const { seconds, windowS, observedS } = figures;
  const from = Math.ceil(execution.endedS - atS);
  const to = Math.floor(Math.min(undo.startedS - atS, Math.max(windowS, observedS)));
  const during = seconds.filter(({ second }) => second >= from && second < to);
  const sum = (name: "due" | "served" | "retryable" | "failed") =>
    during.reduce((total, second) => total + second[name], 0);
  const due = sum("due");
  if (due === 0) return [];
  const notSent = due - sum("served") - sum("retryable") - sum("failed");
  const ends = [
    `${formatNumber(sum("served"))} served`,
    `${formatNumber(sum("retryable"))} denied with Retry-After`,
    `${formatNumber(sum("failed"))} failed`,
    ...(notSent === 0 ? [] : [`${formatNumber(notSent)} not sent`]),
  ];
  const mode = modeOf(sum("served") / (to - from), figures);
  return [`while it lasted, ${formatCount(due, "request")} in ${to - from} s: ${ends.join(", ")}${mode}`];
}

/** Admitted requests vary by this much around a limit. */
const ABOVE_LIMIT = 1.2;

/**
 * Whether limits applied while an event lasted, if the account was at its limit before it. A limiter of whole minutes may admit all
 * requests for some time, so the whole minutes since the event decide. Unusable and incomplete responses may have been admitted:
 * a gateway that sends garbage neither fails closed nor applies limits.
 */
function modeOf(servedPerS: number, figures: EventFigures): string {
  const { limit } = figures;
  const ratio = admittedRatio(figures);
  if (limit === undefined || ratio === undefined) return "";
  const { unclear, admittedBefore, beforeS } = limit;
  if (servedPerS === 0) return unclear === 0 ? ": it failed closed" : "";
  if (ratio > ABOVE_LIMIT) return servedPerS > (ABOVE_LIMIT * admittedBefore) / beforeS ? ": it failed open" : "";
  return (admittedRatio(figures, unclear) ?? 0) <= ABOVE_LIMIT ? ": limits still applied" : "";
}

/**
 * What was admitted since the event, as a multiple of what was admitted while the account was at its limit.
 *
 * @param more requests to be counted as well.
 */
function admittedRatio({ limit }: EventFigures, more = 0): number | undefined {
  if (limit === undefined || limit.windowS === 0 || limit.admittedBefore === 0) return undefined;
  return (limit.admitted + more) / limit.windowS / (limit.admittedBefore / limit.beforeS);
}

function limitText(figures: EventFigures): string[] {
  const ratio = admittedRatio(figures);
  if (ratio === undefined || figures.limit === undefined) return [];
  const { admitted, windowS, admittedBefore, beforeS } = figures.limit;
  return [
    `${formatCount(admitted, "request")} admitted in the ${windowS} s after the event: ${Math.round(ratio * 100)} % of the rate before it, with the account at its limit (${formatNumber(admittedBefore)} in ${beforeS} s)`,
  ];
}

function kindsText({ kinds }: EventFigures): string {
  const others = kinds.filter(({ outcome }) => outcome !== "served");
  return others.length === 0 ? "" : ` (${describeKinds(others)})`;
}

function recoveryText({ before, recoveredS, observedS }: EventFigures): string {
  if (before === null) return "recovery unknown: fewer than 3 s with responses before the first event";
  const ms = (value: number | null) => (value === null ? "unknown" : `${formatNumber(value, 1)} ms`);
  const level = `${(before.servedShare * 100).toFixed(1)} % served, response p50 ${ms(before.p50Ms)}, p95 ${ms(before.p95Ms)}`;
  const recovered =
    recoveredS === null
      ? `not recovered within ${observedS} s`
      : recoveredS === 0
        ? "unaffected"
        : `recovered ${recoveredS} s after the event`;
  return `${recovered} (before: ${level})`;
}
