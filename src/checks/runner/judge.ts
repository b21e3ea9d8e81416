import { describeUndecided } from "../../../reports/text/index.ts";
import { messageOf } from "../../core/index.ts";
import { Undecided, Verdict } from "../../judging/index.ts";
import type { Attestation, CheckResult, Finding, Status, UndecidedReason } from "../../record/index.ts";
import type { Axes } from "../declare/axes.ts";
import { type Instance, suiteOf } from "../declare/check.ts";
import { type Recordable, responsesIn } from "../response/recording.ts";

/** A judgement before the facts of the run are added. */
interface Judgement {
  readonly status: Status;
  readonly message: string;
  /** Set if nothing could be decided. */
  readonly reason?: UndecidedReason | undefined;
  readonly findings: readonly Finding[];
  /** What was not decided, if a failure takes precedence. */
  readonly undecided?: string | undefined;
  readonly unblock?: readonly string[];
}

/**
 * Judges a recording. Pure: the same recording gives the same result, now or years later. A precondition that does not hold
 * overrides everything compared before, because nothing true can be said without it. A point left undecided does not revoke a
 * violated MUST.
 */
export function judge(instance: Instance, recording: Recordable): Judgement {
  const verdict = new Verdict();
  const { findings } = verdict;
  const isTimed = instance.check.kind === "sending" && instance.check.basis === "timing";
  const late = isTimed ? latenessOf(recording) : undefined;
  let stopped: string | undefined;
  try {
    if (instance.check.kind === "invariant") instance.check.judge(responsesIn(recording), verdict);
    else instance.check.judge(recording, verdict, instance.axes);
  } catch (error) {
    if (!(error instanceof Undecided))
      return { status: "harness-error", message: `the judge failed: ${messageOf(error)}`, findings };
    const { status, message, reason, unblock } = error;
    const isBroken = verdict.broken.some(({ weight }) => weight === "fail");
    if (status === "inconclusive" && !isBroken && late !== undefined) return undecidedBy(late, findings);
    if (status !== "inconclusive" || !isBroken) return { status, message, reason, unblock, findings };
    stopped = message;
  }
  if (findings.length === 0 && verdict.open === undefined)
    return { status: "harness-error", message: "the judge compared nothing", findings };
  const judged = isTimed ? timed(verdict, late) : { ...verdict.conclude(), findings };
  return judged.status === "fail" ? { ...judged, undecided: verdict.open ?? stopped } : judged;
}

/** With more lag than this, ms, this process may have caused the order of requests and responses. */
const MAX_OWN_LAG_MS = 500;

/** Whether this process stalled while it recorded: then requests were sent too late to decide what depends on timing. */
function latenessOf(recording: Recordable): UndecidedReason | undefined {
  const lagMs = Math.round(Math.max(0, ...responsesIn(recording).map(({ exchange }) => exchange.ownLagMs)));
  return lagMs > MAX_OWN_LAG_MS ? { kind: "generator-late", lagMs, boundMs: MAX_OWN_LAG_MS } : undefined;
}

/** Timing-based findings do not count against a gateway if this process stalled: late requests look like leaked ones. */
function timed(verdict: Verdict, reason: UndecidedReason | undefined): Judgement {
  const findings = verdict.findings.map((finding): Finding => ({ ...finding, basis: "timing" }));
  const conclusion = verdict.conclude();
  const isOpen = verdict.broken.length > 0 || conclusion.status === "inconclusive";
  if (reason === undefined || !isOpen) return { ...conclusion, findings };
  const undecided = findings.map((finding): Finding => {
    if (finding.outcome !== "broken") return finding;
    const { deviation: _deviation, ...rest } = finding;
    return { ...rest, outcome: "undecided", reason };
  });
  return undecidedBy(reason, undecided);
}

const undecidedBy = (reason: UndecidedReason, findings: readonly Finding[]): Judgement => ({
  status: "inconclusive",
  message: describeUndecided(reason),
  reason,
  findings,
});

interface Circumstances {
  readonly attestations: readonly Attestation[];
  readonly durationMs: number;
}

/** The result of an instance whose recording exists. */
export function resultOf(
  instance: Instance,
  recording: Recordable,
  { attestations, durationMs }: Circumstances,
): CheckResult {
  const { status, message, reason, findings, undecided, unblock = [] } = judge(instance, recording);
  return {
    ...frame(instance),
    status,
    message,
    findings: [...findings],
    ...(reason === undefined ? {} : { reason }),
    ...(undecided === undefined ? {} : { undecided }),
    unblock: [...unblock],
    violated: [
      ...new Set(findings.filter(({ outcome }) => outcome === "broken").flatMap(({ requirements }) => requirements)),
    ],
    attestations: [...attestations],
    exchanges: instance.check.kind === "invariant" ? [] : [...new Set(responsesIn(recording).map(({ id }) => id))],
    durationMs,
  };
}

/** The result of an instance without a recording. */
export function unjudged(
  instance: Instance,
  { status, reason, unblock = [] }: { status: Status; reason: UndecidedReason; unblock?: readonly string[] },
): CheckResult {
  const message = describeUndecided(reason);
  return { ...frame(instance), status, message, reason, unblock: [...unblock], durationMs: 0 };
}

function frame({ id, check, axes }: Instance): CheckResult {
  return {
    id,
    check: check.id,
    suite: suiteOf(check.id),
    title: check.title,
    layer: check.layer,
    axes: stringAxes(axes),
    status: "harness-error",
    requirements: [...check.covers],
    violated: [],
    message: "",
    findings: [],
    attestations: [],
    unblock: [],
    exchanges: [],
    durationMs: 0,
  };
}

function stringAxes(axes: Axes): Record<string, string> {
  return Object.fromEntries(Object.entries(axes).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
