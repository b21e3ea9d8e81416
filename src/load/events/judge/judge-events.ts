import { describeKinds } from "../../../../reports/text/index.ts";
import { countToDecide, formatCount, formatNumber, wilson } from "../../../core/index.ts";
import { conclusionOf, finding } from "../../../judging/index.ts";
import type { EventExecution, EventFigures, Finding, JudgedRun, LoadEvent } from "../../../record/index.ts";
import type { EventExpectations } from "../event.ts";
import type { EventBound, RatioBound } from "../event-bound.ts";
import { readEventExpectations } from "../written-events.ts";
import { judgeAdmitted } from "./judge-admitted.ts";
import { judgeLeakedCapacity } from "./judge-leaked-capacity.ts";
import { judgeDelay, judgeRecovery, percent } from "./judge-recovery.ts";
import { judgeUsage } from "./judge-usage.ts";
import { CPU, LOG, type UsageKind } from "./request-usage.ts";

const CONFIDENCE = 0.95;
/** Minimum number of requests for a bound on their number: fewer could not show much. */
const MIN_REQUESTS = 20;
/** Kinds of failures that a busy machine can cause as well. */
const TIMING_FAILURES: readonly string[] = ["deadline", "idle", "408"];
/** Judges the events of a run by the expectations of its workload. What one of several shards sent is not judged. */
export function withEvents(run: JudgedRun): JudgedRun {
  const { events = [], generator } = run;
  if (events.length === 0 || run.shard !== undefined) return run;
  const expectations = readEventExpectations(run.workload);
  const judged = events.flatMap((event) => judgeEvent(event, expectations.get(event.name) ?? {}, run));
  const findings = generator.valid ? judged : judged.map((one) => withoutTiming(one, generator.problems));
  return { ...run, disturbance: { ...conclusionOf(findings), findings } };
}

function withoutTiming({ name, title, requirements, basis, outcome, ...rest }: Finding, problems: string[]): Finding {
  return basis === "timing" && outcome !== "undecided"
    ? finding({ name, title, requirements, basis, undecided: { kind: "machine-busy", problems } })
    : { name, ...(title && { title }), requirements, ...(basis && { basis }), outcome, ...rest };
}

/** The findings of one event, pure: everything is in the record. */
export function judgeEvent(event: LoadEvent, expect: EventExpectations, run: MeasuredRun = { phases: [] }): Finding[] {
  const { name, execution, figures, undo } = event;
  const prefix = `event.${name}`;
  const undone = undo === undefined ? [] : [judgeUndo(prefix, undo)];
  const questions = questionsOf(expect, run);
  const why = notDisturbed(event);
  if (why !== undefined || execution === null || figures === null)
    return [
      finding({
        name: prefix,
        title: `The event ${name} is executed`,
        requirements: [],
        undecided: why,
        basis: "content",
      }),
      ...questions.map(({ id, title }) =>
        finding({ name: `${prefix}.${id}`, title, requirements: [], undecided: why, basis: "content" }),
      ),
      ...undone,
    ];
  return [
    finding({
      name: prefix,
      title: `The event ${name} is executed`,
      requirements: [],
      met: true,
      expected: "no failure",
      observed: execution.result,
      basis: "content",
    }),
    ...questions.map(({ id, title, judge }) => judge({ name: `${prefix}.${id}`, title }, figures, event)),
    ...undone,
  ];
}

/** Why nothing can be said about an event; `undefined` if it took place as planned. */
function notDisturbed({ execution, figures, durationS, undo }: LoadEvent): string | undefined {
  if (execution === null) return "the load ended before the event";
  const failed = (what: string, { action, result, output }: EventExecution) =>
    `${what} failed (${action}: ${result})${output === "" ? "" : `: ${lastLine(output)}`}`;
  if (!execution.succeeded) return failed("the action of the event", execution);
  if (durationS !== undefined && undo?.succeeded !== true)
    return undo === undefined ? "the load ended before the event was undone" : failed("undoing the event", undo);
  return figures === null ? "the load ended before the event" : undefined;
}

const lastLine = (output: string) => (output.split("\n").at(-1) ?? "").slice(0, 200);

function judgeUndo(prefix: string, { succeeded, action, result, output }: EventExecution): Finding {
  return finding({
    name: `${prefix}.after`,
    title: "The event is undone",
    requirements: [],
    weight: "warn",
    met: succeeded,
    expected: "no failure",
    observed: `${action}: ${result}${succeeded || output === "" ? "" : `: ${lastLine(output)}`}`,
    basis: "content",
  });
}

interface Named {
  readonly name: string;
  readonly title: string;
}

interface Question {
  readonly id: string;
  readonly title: string;
  readonly judge: (named: Named, figures: EventFigures, event: LoadEvent) => Finding;
}

/** What was measured of a run besides its events. */
type MeasuredRun = Pick<JudgedRun, "phases"> & Partial<Pick<JudgedRun, "events" | "afterLoad" | "watched">>;

function questionsOf(expect: EventExpectations, run: MeasuredRun): Question[] {
  const { failed, retryable, invalidReplies, incompleteResponses } = expect;
  const { truncatedStreams, interruptedStreams, admitted, capacityLeaked, addedDelayS, recoveredWithinS } = expect;
  const { cpuPerRequest, logBytesPerRequest } = expect;
  const bounded = (
    id: string,
    title: string,
    bound: EventBound | undefined,
    counted: (figures: EventFigures) => Omit<Counted, "bound">,
  ): Question[] =>
    bound === undefined
      ? []
      : [{ id, title, judge: (named, figures) => judgeBound(named, { bound, ...counted(figures) }) }];
  const used = (id: string, title: string, kind: UsageKind, bound: RatioBound | undefined): Question[] =>
    bound === undefined
      ? []
      : [{ id, title, judge: (named, _figures, event) => judgeUsage(named, { kind, bound }, event, run) }];
  return [
    ...bounded("failed", "Requests around the event get a usable reply or a denial with Retry-After", failed, (of) => ({
      count: of.failed,
      of: of.requests,
      what: "failed",
      unit: "request",
      kinds: of.kinds.filter(({ outcome }) => outcome === "failed"),
    })),
    ...bounded("retryable", "Few requests around the event are denied with Retry-After", retryable, (of) => ({
      count: of.retryable,
      of: of.requests,
      what: "denied with Retry-After",
      unit: "request",
      kinds: of.kinds.filter(({ outcome }) => outcome === "retryable"),
    })),
    ...bounded("invalid-replies", "Clients can use the 2xx responses around the event", invalidReplies, (of) =>
      failuresOf(of, "invalid", "got an unusable 2xx response"),
    ),
    ...bounded(
      "incomplete-responses",
      "Requests around the event get a complete response, even if it is an error",
      incompleteResponses,
      (of) => failuresOf(of, "incomplete", "got no complete response"),
    ),
    ...bounded("truncated-streams", "Streams around the event are not truncated", truncatedStreams, ({ streams }) => ({
      count: streams.truncated,
      of: streams.count,
      what: "truncated without an error event",
      unit: "stream",
      kinds: [],
    })),
    ...bounded(
      "interrupted-streams",
      "Few streams around the event are interrupted",
      interruptedStreams,
      ({ streams }) => ({
        count: streams.interrupted,
        of: streams.count,
        what: "ended with an error event",
        unit: "stream",
        kinds: [],
      }),
    ),
    ...(admitted === undefined
      ? []
      : [
          {
            id: "admitted",
            title: "The account's limits are neither forgotten nor multiplied",
            judge: (named: Named, { limit }: EventFigures) => judgeAdmitted(named, limit, admitted),
          },
        ]),
    ...used("cpu-per-request", "The event does not make requests much more expensive", CPU, cpuPerRequest),
    ...used("log-bytes-per-request", "The event does not make the gateway log much more", LOG, logBytesPerRequest),
    ...(capacityLeaked === undefined
      ? []
      : [
          {
            id: "capacity-leaked",
            title: "No capacity of the account has leaked",
            judge: (named: Named) => judgeLeakedCapacity(named, run.afterLoad),
          },
        ]),
    ...(addedDelayS === undefined
      ? []
      : [
          {
            id: "added-delay",
            title: "Requests around the event are not delayed much",
            judge: (named: Named, figures: EventFigures) => judgeDelay(named, figures, addedDelayS),
          },
        ]),
    ...(recoveredWithinS === undefined
      ? []
      : [
          {
            id: "recovered",
            title: "Outcomes and latency recover after the event",
            judge: (named: Named, figures: EventFigures, event: LoadEvent) =>
              judgeRecovery(named, figures, event, recoveredWithinS),
          },
        ]),
  ];
}

function failuresOf(
  { kinds, requests }: EventFigures,
  failure: EventFigures["kinds"][number]["failure"],
  what: string,
): Omit<Counted, "bound"> {
  const own = kinds.filter((kind) => kind.failure === failure);
  const count = own.reduce((sum, kind) => sum + kind.count, 0);
  return { count, of: requests, what, unit: "request", kinds: own };
}

interface Counted {
  readonly bound: EventBound;
  readonly count: number;
  readonly of: number;
  readonly what: string;
  readonly unit: "request" | "stream";
  readonly kinds: EventFigures["kinds"];
}

function judgeBound(named: Named, counted: Counted): Finding {
  const { bound, count, of, what, unit, kinds } = counted;
  const share = of === 0 ? 0 : count / of;
  const observed = `${formatNumber(count)} of ${formatCount(of, unit)} ${what}${of === 0 ? "" : ` (${percent(share)})`}${kinds.length === 0 ? "" : `: ${describeKinds(kinds)}`}`;
  const isOfTiming = kinds.length > 0 && kinds.every((kind) => TIMING_FAILURES.includes(kind.what));
  const facts = { ...named, requirements: [], expected: bound.text, observed };
  const decided = decide(counted);
  if (typeof decided === "boolean")
    return finding({
      ...facts,
      met: decided,
      // A busy machine only adds failures, so it cannot make a bound look met.
      basis: !decided && isOfTiming ? "timing" : "content",
      magnitude: share,
    });
  const more = Number.isFinite(decided) ? `; about ${formatCount(decided, unit)} are needed` : "";
  return finding({
    ...facts,
    basis: "timing",
    undecided: `${observed}: too few ${unit}s to decide ${bound.text}${more}`,
  });
}

/** Whether a bound is met, or the number of requests that would decide it. */
function decide({ bound, count, of, unit }: Pick<Counted, "bound" | "count" | "of" | "unit">): boolean | number {
  const { value, isInclusive } = bound;
  const least = unit === "stream" ? 1 : MIN_REQUESTS;
  if (bound.unit === "count") {
    if (count > value || (count === value && !isInclusive)) return false;
    return of >= least || least;
  }
  // Without requests, no bound is met, not even one that allows everything.
  if (of === 0) return least;
  const { low, high } = wilson({ count, of }, CONFIDENCE);
  if (low > value) return false;
  if (high < value || (isInclusive && high === value)) return true;
  return countToDecide(count / of, value, { from: Math.max(of, MIN_REQUESTS), confidence: CONFIDENCE });
}
