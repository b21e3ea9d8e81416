import exec from "k6/execution";
import { Counter, Rate, Trend } from "k6/metrics";
import type { PlannedRequest } from "./plan.ts";
import type { Reply } from "./read-reply.ts";
import { LIMIT_REASONS } from "./retry-rules.ts";

const requestTrend = new Trend("gauntlet_request", true);
const firstByte = new Trend("gauntlet_first_byte", true);
const sent = new Counter("gauntlet_sent");
const admitted = new Counter("gauntlet_admitted");
const denials = new Counter("gauntlet_denials");
const failures = new Counter("gauntlet_failures");
/** Denied for a reason other than a limit: waiting does not help. */
const refusals = new Counter("gauntlet_refusals");
const served = new Rate("gauntlet_served");
/** Share of the complete 2xx replies that no client could use. */
const invalid = new Rate("gauntlet_invalid");
const sufficientWaits = new Counter("gauntlet_waits_sufficient");
const insufficientWaits = new Counter("gauntlet_waits_insufficient");
const earlySends = new Counter("gauntlet_early_sends");
const forbiddenRetries = new Counter("gauntlet_forbidden_retries");
const instance = new Counter("gauntlet_instance");

/** Timestamps of one request, ms. `sentMs` and `dueMs` count from the start of the test. */
export interface Marks {
  readonly index: number;
  readonly attempt: number;
  readonly dueMs: number;
  readonly sentMs: number;
  /** Wall clock at the send. */
  readonly wallMs: number;
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
  readonly status: number;
  readonly key: number;
}

/** The raw outputs keep metadata, and unlike tags it creates no time series. */
function withMetadata(text: string, add: () => void): void {
  exec.vu.metrics.metadata["g"] = text;
  add();
  delete exec.vu.metrics.metadata["g"];
}

/**
 * Emits the outcome of a request: one sample with all of it for Gauntlet, and counters for k6's own outputs. @param clean removes
 * secrets: a gateway may repeat them.
 */
export function measure(request: PlannedRequest, marks: Marks, reply: Reply, clean: (text: string) => string): void {
  const tags = {
    dialect: request.dialect,
    mode: request.stream ? "streaming" : "non-streaming",
    outcome: reply.outcome,
    reason: reply.what === "" ? "none" : clean(reply.what),
  };
  const at = (ms: number) => ms.toFixed(3);
  const fields = [
    "1",
    exec.scenario.name,
    request.dialect,
    tags.mode,
    reply.outcome,
    reply.what,
    marks.status,
    marks.index,
    marks.attempt,
    marks.key,
    at(marks.dueMs),
    at(marks.sentMs),
    marks.wallMs,
    at(marks.connectMs),
    at(marks.firstByteMs),
    at(marks.totalMs),
    reply.retryAfter,
    reply.retryAfterMs === undefined ? "" : reply.retryAfterMs,
    reply.date,
    reply.tokens,
    reply.flaw,
    reply.outcome === "admitted" ? "" : reply.requestId,
  ];
  withMetadata(fields.map((field) => encodeURIComponent(clean(String(field)))).join("|"), () =>
    requestTrend.add(marks.totalMs, tags),
  );
  sent.add(1, tags);
  served.add(reply.outcome === "admitted" || reply.outcome === "unfinished");
  // Load is expected to reach the limits.
  if (reply.outcome === "denied" && !LIMIT_REASONS.includes(reply.what)) refusals.add(1, tags);
  if (marks.status > 0) firstByte.add(marks.firstByteMs, tags);
  if (reply.outcome === "admitted" || reply.outcome === "invalid") invalid.add(reply.outcome === "invalid", tags);
  if (reply.outcome === "admitted") admitted.add(1, tags);
  else if (reply.outcome === "denied") denials.add(1, tags);
  else if (reply.outcome !== "invalid") failures.add(1, tags);
}

/** Audits a retry against the previous response: from what was sent, not from what was decided. */
export function auditRetry(before: Reply, endMs: number, sentMs: number): void {
  if (before.retry === "never" || before.retry === "uncertain" || before.retry === "served") forbiddenRetries.add(1);
  if (before.retry === "retry-after" && before.retryAfterMs !== undefined && sentMs < endMs + before.retryAfterMs)
    earlySends.add(1);
}

/**
 * Whether the Retry-After wait was sufficient. Another denial may still be fair: other clients can have taken the freed capacity.
 */
export function countWait(sufficient: boolean): void {
  if (sufficient) sufficientWaits.add(1);
  else insufficientWaits.add(1);
}

/** The beginning and the end of an instance: one without an end was interrupted. */
export function markInstance(event: "begun" | "ended", segment: string): void {
  for (const counter of [earlySends, forbiddenRetries, failures, denials]) counter.add(0);
  withMetadata(["1", event, encodeURIComponent(segment)].join("|"), () => instance.add(1, { event }));
}
