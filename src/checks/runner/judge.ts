import { describeUndecided } from "../../../reports/text/index.ts";
import { maskLikely, messageOf } from "../../core/index.ts";
import { Undecided, Verdict } from "../../judging/index.ts";
import type { Attestation, CheckResult, Finding, Status, UndecidedReason } from "../../record/index.ts";
import type { Axes } from "../declare/axes.ts";
import { type Instance, suiteOf } from "../declare/check.ts";
import type { CustomSuite } from "../declare/custom-suite.ts";
import { type Recordable, responsesIn } from "../response/recording.ts";
import { SuiteGuard } from "./suite-guard.ts";

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
  const { check } = instance;
  const { customSuite } = check;
  const verdict = new Verdict(
    customSuite === undefined ? undefined : new SuiteGuard(check.requirements, responsesIn(recording)),
  );
  const { findings } = verdict;
  const isTimed = instance.check.kind === "sending" && instance.check.basis === "timing";
  const late = isTimed ? latenessOf(recording) : undefined;
  let stopped: string | undefined;
  try {
    const returned: unknown =
      check.kind === "invariant"
        ? check.judge(responsesIn(recording), verdict)
        : check.judge(recording, verdict, instance.axes);
    if (returned instanceof Promise) {
      // Nobody waits for it, and a rejection would end the process.
      returned.catch(() => {});
      return mistake(instance, "the judge is async. It must be synchronous and read only the recording", findings);
    }
  } catch (error) {
    if (!(error instanceof Undecided)) {
      if (customSuite !== undefined)
        return byReason("harness-error", suiteErrorOf(customSuite, instance, error), findings);
      return { status: "harness-error", message: `the judge failed: ${messageOf(error)}`, findings };
    }
    const { status, message, reason, unblock } = error;
    const isBroken = verdict.broken.some(({ weight }) => weight === "fail");
    if (status === "inconclusive" && !isBroken && late !== undefined) return byReason("inconclusive", late, findings);
    if (status !== "inconclusive" || !isBroken) return { status, message, reason, unblock, findings };
    stopped = message;
  }
  if (findings.length === 0 && verdict.open === undefined)
    return mistake(instance, "the judge compared nothing", findings);
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
  return byReason("inconclusive", reason, undecided);
}

/** What a custom suite did wrong by throwing. */
export function suiteErrorOf(suite: CustomSuite, { check }: Pick<Instance, "check">, thrown: unknown): UndecidedReason {
  const [text = ""] = messageOf(thrown).split("\n", 1);
  return { kind: "suite-error", place: suite.placeOf(thrown) ?? suite.placeOfCheck(check.id), text: maskLikely(text) };
}

/** A judge that did not judge. */
function mistake({ check }: Instance, text: string, findings: readonly Finding[]): Judgement {
  if (check.customSuite === undefined) return { status: "harness-error", message: text, findings };
  const place = check.customSuite.placeOfCheck(check.id);
  return byReason("harness-error", { kind: "suite-error", place, text }, findings);
}

const byReason = (
  status: "inconclusive" | "harness-error",
  reason: UndecidedReason,
  findings: readonly Finding[],
): Judgement => ({
  status,
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
