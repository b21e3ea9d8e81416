import { type BodyChange, bodyChange } from "./unusual-json.ts";
import { HELD_MS, type UpstreamFacts } from "./upstream-facts.ts";
import type { ReceivedRequest } from "./upstream-log.ts";

/** Minimum number of requests for conclusions about their connections: more than a gateway has processes. */
const MIN_REQUESTS = 10;
/** Nearly every request on a new connection: one may have found an open one. */
const NEW_SHARE = 0.9;
/**
 * Queued if fewer than this share of what was sent were concurrent: not all requests of a burst are in flight at the same moment.
 */
const QUEUED_SHARE = 0.8;
/**
 * A gateway that is merely slow, or that paces requests, passes them on one by one. One that has reached its own limit passes
 * on the first requests quickly, then none for a while, although clients are waiting.
 */
const STILL_MS = HELD_MS / 3;
const STILL_LONGER = 2;
/** Maximum number of field names listed, and characters of each. */
const MAX_FIELDS = 4;
const MAX_NAME_CHARACTERS = 20;

/** What the log of its upstream proves about a gateway. */
export function diagnoseUpstream(facts: UpstreamFacts | undefined): string[] {
  if (facts === undefined) return [];
  const { inTurn, atOnce } = facts;
  return [...connections(inTurn), ...bodies(inTurn), ...(atOnce === undefined ? [] : queue(atOnce))];
}

function connections({ received }: UpstreamFacts["inTurn"]): string[] {
  const first = received.filter(({ earlier }) => earlier === 0);
  if (received.length < MIN_REQUESTS || first.length < NEW_SHARE * received.length) return [];
  const count = new Set(received.map(({ connection }) => connection)).size;
  return [
    `It opens a connection to the upstream for each request: ${received.length} requests arrived on ${count} connections.`,
  ];
}

function bodies({ body, received: [first] }: UpstreamFacts["inTurn"]): string[] {
  // The log masks whatever equals a credential: such a body is not the one that arrived.
  if (first === undefined || first.bodyBytes !== Buffer.byteLength(first.body)) return [];
  const change = bodyChange(body, first.body);
  if (change === undefined || !change.isRewritten) return [];
  const fields = fieldsText(change);
  if (fields === "")
    return ["It re-serialises request bodies: the upstream received the same JSON value in other bytes."];
  return [`It re-serialises request bodies, and edits them: ${fields}.`];
}

function fieldsText({ changed, added, removed }: BodyChange): string {
  const fields = Object.entries({ changed, added, removed }).flatMap(([what, names]) =>
    names.map((name) => `${name.slice(0, MAX_NAME_CHARACTERS)} ${what}`),
  );
  const more = fields.length - MAX_FIELDS;
  return [...fields.slice(0, MAX_FIELDS), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

function queue({ sent, served, received }: NonNullable<UpstreamFacts["atOnce"]>): string[] {
  // Requests that were denied, lost or served from a cache did not wait.
  if (served < sent || received.length < sent) return [];
  const { most, filledMs, stillMs } = mostAtOnce(received);
  if (most > QUEUED_SHARE * sent || stillMs < Math.max(STILL_MS, STILL_LONGER * filledMs)) return [];
  return [`At most ${most} of ${sent} concurrent requests reach the upstream at once; the others wait in the gateway.`];
}

/** Maximum number of overlapping requests, how long it took to reach it, and how long no further request arrived after that. */
function mostAtOnce(received: readonly ReceivedRequest[]) {
  const moments = received.flatMap(({ receivedMs, endMs = Number.POSITIVE_INFINITY }) => [
    { atMs: receivedMs, by: 1 },
    { atMs: endMs, by: -1 },
  ]);
  // At the same moment, ends count before starts.
  moments.sort((a, b) => a.atMs - b.atMs || a.by - b.by);
  let [most, now, mostFromMs] = [0, 0, 0];
  for (const { atMs, by } of moments) {
    now += by;
    if (now > most) [most, mostFromMs] = [now, atMs];
  }
  const comingMs = received.map(({ receivedMs }) => receivedMs);
  const laterMs = comingMs.filter((ms) => ms > mostFromMs);
  return {
    most,
    filledMs: mostFromMs - Math.min(...comingMs),
    stillMs: laterMs.length === 0 ? 0 : Math.min(...laterMs) - mostFromMs,
  };
}
