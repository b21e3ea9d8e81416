import { formatCount } from "../../core/index.ts";
import { isLimitReason } from "../../dialects/index.ts";
import { type FindingFacts, finding } from "../../judging/index.ts";
import type { EndingThreshold, Finding, JudgedPhase, JudgedRun } from "../../record/index.ts";
import type { LoadStop } from "../send/load-guard.ts";
import { isStatedFailure } from "../send/outcome.ts";
import { exchangesOf } from "../tier/observations.ts";
import type { Workload } from "../workload/workload.ts";
import { judgeReplies } from "./judge-replies.ts";
import { thresholdBoundOf } from "./thresholds.ts";

/** The finding for a run that was stopped before its end. */
export function judgeStop(stop: LoadStop | undefined): Finding[] {
  if (stop === undefined) return [];
  const why = `${stop.why}; the rest was not sent`;
  const judged = (name: string, title: string, facts: Partial<FindingFacts>) => [
    finding({ name, title, requirements: [], ...facts }),
  ];
  switch (stop.kind) {
    case "requests":
      return judged("load.bound", "The number of requests is bounded", { observed: stop.why, basis: "timing" });
    case "threshold":
      // The threshold itself is judged once, over the whole run.
      return judged("load.aborted", "A crossed threshold ended the load", { observed: why, basis: "timing" });
    case "outputTokens":
      return judged("load.budget", "The budget covers the run", { undecided: why, basis: "timing" });
    case "circuit":
      return judged("load.circuit", "The target withstands the load", {
        met: false,
        expected: "every request sent",
        observed: `load that stopped early: ${why}`,
        basis: "content",
      });
  }
}

/** The threshold that ended a run early, if one did. */
export function endedByThreshold(
  stop: LoadStop | undefined,
  progress?: EndingThreshold["progress"],
): Pick<JudgedRun, "endedBy"> {
  if (stop?.kind !== "threshold") return {};
  return { endedBy: { ...stop.endedBy, ...(progress && { progress }) } };
}

const QUESTIONS = ["load.admitted", "load.invalid", "load.denied", "load.failed", "load.dropped"];

/** The findings about totals that a threshold on the same share replaces: one fact is one failure. */
function replacedByThresholds({ written }: Pick<Workload, "written">): string[] {
  return [
    ...(thresholdBoundOf(written, "deniedShare") === undefined ? [] : ["load.denied"]),
    ...(thresholdBoundOf(written, "failedShare") === undefined ? [] : ["load.failed"]),
  ];
}

/** What plain load must decide to pass, apart from thresholds. */
export function totalsQuestions(workload: Pick<Workload, "written">): readonly string[] {
  const replaced = replacedByThresholds(workload);
  return QUESTIONS.filter((question) => !replaced.includes(question));
}

interface LoadTotals
  extends Readonly<Record<"sent" | "admitted" | "denied" | "failed" | "invalid" | "dropped", number>>,
    Pick<JudgedPhase, "denials" | "failures" | "invalidReplies"> {
  /** Why the last connection attempt failed. */
  readonly lastFailure?: string | undefined;
}

/** Failures of requests that reached no gateway, or that Gauntlet aborted. */
const NOT_REACHED: readonly string[] = ["unreachable", "aborted"];

/** Whether a failed request reached a gateway, which is then responsible for the failure. */
export function reachedGateway({ what }: { readonly what: string }): boolean {
  return !NOT_REACHED.includes(what);
}

/**
 * Judges the totals of a workload, whichever engine sent it: something is admitted, only limits deny, denials and failures
 * stay within what the workload allows, unless its thresholds bound them, and nothing is dropped. If no request reached a gateway,
 * nothing is decided. If requests reached a gateway and all of them failed, the gateway fails.
 */
export function judgeTotals({ allow, written }: Pick<Workload, "allow" | "written">, totals: LoadTotals): Finding[] {
  const { sent, admitted, denied, failed, invalid, dropped, denials, failures, lastFailure } = totals;
  const [name, title] = ["load.admitted", "Requests are admitted"] as const;
  if (sent === 0 || (admitted + denied + invalid === 0 && !failures.some(reachedGateway))) {
    const why = `${sent === 0 ? "nothing was sent" : `none of ${sent} requests reached a gateway`}${lastFailure === undefined ? "" : `: ${lastFailure}`}`;
    // A busy machine does not explain why every connection failed, so it must not replace this reason.
    return [finding({ name, title, requirements: [], undecided: why, basis: sent === 0 ? "timing" : "content" })];
  }
  const share = (count: number) => `${((count / sent) * 100).toFixed(2)} % of ${formatCount(sent, "request")}`;
  const percent = (allowed: number) => (allowed === 0 ? "none" : `at most ${allowed * 100} %`);
  const others = denials.filter(({ reason }) => !isLimitReason(reason));
  const stated = failures.reduce((sum, { what, count }) => (isStatedFailure(what) ? sum + count : sum), 0);
  const refused = others.reduce((sum, { count }) => sum + count, 0);
  const replaced = replacedByThresholds({ written });
  const findings = [
    admitted + invalid === 0 && denied > 0 && refused === 0
      ? finding({
          name,
          title,
          requirements: [],
          undecided: `none of ${sent} requests was admitted: ${denialsText(denials)}`,
          basis: "timing",
        })
      : finding({
          name,
          title,
          requirements: [],
          met: admitted > 0,
          expected: "at least 1",
          observed: `${admitted} of ${sent} admitted`,
          basis: "content",
          exchanges: admitted > 0 ? [] : exchangesOf([...denials, ...failures]),
        }),
    ...judgeReplies("load", totals, allow),
    finding({
      name: "load.denied",
      title: "The share of denials stays within what the workload allows",
      requirements: [],
      met: denied <= sent * allow.deniedShare,
      expected: percent(allow.deniedShare),
      observed: `${denied} denied, ${share(denied)}${denied === 0 ? "" : `: ${denialsText(denials)}`}`,
      basis: "timing",
      magnitude: denied / sent,
      exchanges: exchangesOf(denials),
    }),
    finding({
      name: "load.denial-reasons",
      title: "Denials name a limit as their reason",
      requirements: ["ERR-429-RATE", "ERR-429-CONC"],
      met: refused === 0,
      expected: "429 rate_limit_exceeded or concurrency_limit_exceeded",
      observed: refused === 0 ? `${denied} denied by a limit` : denialsText(others),
      basis: "content",
      magnitude: refused / sent,
      exchanges: exchangesOf(others),
    }),
    finding({
      name: "load.failed",
      title: "Requests get a complete response",
      requirements: [],
      met: failed <= sent * allow.failedShare,
      expected: percent(allow.failedShare),
      observed: `${failed} failed, ${share(failed)}${failed === 0 ? "" : `: ${countsText(failures)}`}`,
      basis: stated > sent * allow.failedShare ? "content" : "timing",
      magnitude: failed / sent,
      exchanges: exchangesOf(failures),
    }),
    finding({
      name: "load.dropped",
      title: "No arrival is dropped at the bound on requests in flight",
      requirements: [],
      met: dropped === 0,
      expected: "0",
      observed: `${dropped} dropped`,
      basis: "timing",
      magnitude: dropped / sent,
    }),
  ];
  return findings.filter((one) => !replaced.includes(one.name));
}

/** `40 × 401 invalid_api_key, 2 × 429 without a reason`. */
const denialsText = (denials: JudgedPhase["denials"]): string =>
  countsText(
    denials.map(({ reason, count }) => ({ what: /^\d+$/.test(reason) ? `${reason} without a reason` : reason, count })),
  );

/** A gateway may name a new reason in each denial. */
const MAX_NAMED = 5;

/** `24 × 500, 3 × reset`, most frequent first. */
function countsText(all: readonly { readonly what: string; readonly count: number }[]): string {
  const counts = new Map<string, number>();
  for (const { what, count } of all) counts.set(what, (counts.get(what) ?? 0) + count);
  const named = [...counts].sort(([, a], [, b]) => b - a);
  const others = named.length - MAX_NAMED;
  return [
    ...named.slice(0, MAX_NAMED).map(([what, count]) => `${count} × ${what}`),
    ...(others > 0 ? [`and ${others} more`] : []),
  ].join(", ");
}
