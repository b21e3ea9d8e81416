import { sleep } from "k6";
import exec from "k6/execution";
import http from "k6/http";
import { chance, requestOf } from "./draw.ts";
import { countOf, dueMs } from "./due.ts";
import { auditRetry, countWait, markInstance, measure } from "./measure.ts";
import { optionsOf } from "./options.ts";
import type { Group, Plan, PlannedRequest } from "./plan.ts";
import { type Reply, readReply } from "./read-reply.ts";
import { decideRetry } from "./retry-rules.ts";

const plan = JSON.parse(open(__ENV["GAUNTLET_PLAN"] ?? "./plan.json")) as Plan;
const base = (__ENV["GAUNTLET_BASE_URL"] ?? plan.baseUrl).replace(/\/+$/, "");
const groups = new Map(plan.groups.map((group) => [group.scenario, group]));
/** Keys come from the environment only, and are read when the test runs: `k6 inspect` and `k6 archive` need none. */
const keys = ["GAUNTLET_KEY", "GAUNTLET_KEY_2"].slice(0, plan.keys).map((name) => __ENV[name] ?? "");
const secrets = [
  ...keys,
  ...Object.values(plan.headers).flatMap((own) => own.flatMap((one) => ("env" in one ? (__ENV[one.env] ?? "") : []))),
];
const clean = (text: string): string =>
  secrets.reduce((cleaned, secret) => (secret === "" ? cleaned : cleaned.split(secret).join("[key]")), text);
/** A client that ignores denials retries after this. */
const IGNORING_MS = 20;

export const options = optionsOf(plan);

/** @returns where the schedule begins: the time before is k6's own start. */
export function setup(): { readonly originMs: number } {
  if (keys.some((key) => key === "")) exec.test.abort("GAUNTLET_KEY (and GAUNTLET_KEY_2 for a second key) must be set");
  markInstance("begun", segmentOf());
  return { originMs: exec.instance.currentTestRunDuration };
}

export function teardown(): void {
  markInstance("ended", segmentOf());
}

/** Concurrent runs have the same seed: their texts must differ. */
const mark = plan.name
  .toLowerCase()
  .replace(/[^0-9a-z]/g, "")
  .slice(0, 4);

/** The share of this instance, as passed to k6. */
function segmentOf(): string {
  const { executionSegment } = exec.test.options;
  return typeof executionSegment === "string" ? executionSegment : "0:1";
}

/** One arrival: a request, and its retries if the group has them. Each retry is a new request (retry rule 4). */
export default function arrive({ originMs }: { readonly originMs: number }): void {
  const group = groups.get(exec.scenario.name) as Group;
  const index = exec.scenario.iterationInTest;
  if (index >= countOf(group.arrivals)) return;
  const request = requestOf(group, index, plan.seed);
  const beganMs = exec.instance.currentTestRunDuration;
  let due = originMs + group.startMs + dueMs(group.arrivals, index);
  let before: { reply: Reply; endMs: number; fromRetryAfter: boolean } | undefined;
  for (let attempt = 1; ; attempt++) {
    const { reply, sentMs, endMs } = send(group, request, index, attempt, due);
    if (before !== undefined) {
      auditRetry(before.reply, before.endMs, sentMs);
      if (before.fromRetryAfter) countWait(reply.outcome === "admitted");
    }
    const waitMs = waitOf(group, reply, attempt, index);
    if (waitMs === undefined || endMs + waitMs.ms - beganMs > group.untilMs) return;
    before = { reply, endMs, fromRetryAfter: waitMs.fromRetryAfter };
    due = endMs + waitMs.ms;
    sleep((due + plan.retry.graceMs - exec.instance.currentTestRunDuration) / 1_000);
  }
}

function waitOf(
  group: Group,
  reply: Reply,
  attempts: number,
  index: number,
): { ms: number; fromRetryAfter: boolean } | undefined {
  if (group.retryAfter === "none" || reply.retry === "served") return undefined;
  if (group.retryAfter === "ignoring")
    return attempts < plan.retry.maxAttempts ? { ms: IGNORING_MS, fromRetryAfter: false } : undefined;
  const { retry, reason, retryAfterMs } = reply;
  const random = chance(plan.seed + attempts, index);
  const decision = decideRetry({ retry, reason, retryAfterMs, attempts }, random, plan.retry);
  return decision.kind === "wait" ? decision : undefined;
}

function send(group: Group, request: PlannedRequest, index: number, attempt: number, due: number) {
  const { dialect } = request;
  const key = (index + attempt - 1) % keys.length;
  const nonce = request.body.includes("@nonce@")
    ? `gx${(plan.seed >>> 0).toString(16)}n${mark}${plan.groups.indexOf(group).toString(36)}x${index.toString(36)}x${attempt}z`
    : "";
  const headers: Record<string, string> = { Authorization: `Bearer ${keys[key]}`, "Content-Type": "application/json" };
  for (const header of plan.headers[dialect])
    headers[header.name] = "env" in header ? (__ENV[header.env] ?? "") : header.value;
  const wallMs = Date.now();
  const sentMs = exec.instance.currentTestRunDuration;
  const response = http.post(`${base}${plan.paths[dialect]}`, request.body.replaceAll("@nonce@", nonce), {
    headers,
    timeout: plan.responseMs,
    redirects: 0,
    responseType: "text",
  });
  // A Retry-After wait begins when the response has been read.
  const endMs = exec.instance.currentTestRunDuration;
  // If a dial that was begun for this request lost to a connection that became free, k6's parts overlap: their sum may be longer
  // than the elapsed time. A whole millisecond is added for the one that the two truncated timestamps lose.
  const passedMs = endMs - sentMs + 1;
  const { blocked, connecting, tls_handshaking: tls, sending, waiting, receiving } = response.timings;
  const connectMs = blocked + connecting + tls;
  const firstByteMs = Math.min(connectMs + sending + waiting, passedMs);
  const reply = readReply(response, request, plan, nonce);
  const totalMs = response.status === 0 ? endMs - sentMs : Math.min(firstByteMs + receiving, passedMs);
  const { status } = response;
  measure(
    request,
    { index, attempt, dueMs: due, sentMs, wallMs, connectMs, firstByteMs, totalMs, status, key },
    reply,
    clean,
  );
  return { reply, sentMs, endMs };
}
