import { nowUs } from "../../http/load-client/index.ts";
import { finding, type Observation } from "../../judging/index.ts";
import {
  admittedBeyond,
  isAdmitted,
  isConcurrencyDenial,
  isRateDenial,
  LEFT,
  maxInFlightAtDenial,
  minPeakInFlight,
  type RetryAfterWait,
  type Stretch,
} from "../../limits/index.ts";
import type { Finding } from "../../record/index.ts";
import { ratioOf } from "../measure/phase-record.ts";
import { exchangesOf } from "./observations.ts";
import { GRACE_MS } from "./retry-after-waits.ts";
import type { TierBench, TierRequest } from "./tier-bench.ts";

/** A request may still count for a short time after its last byte was read, ms. */
export const SETTLE_MS = 300;
/** Requests beyond the limit in the wave: enough to reveal each kind of counter. */
export const extraOf = (limit: number): number => Math.min(25, Math.max(4, Math.ceil(limit * 0.05)));
/** Background streams during short requests: a quarter of the limit, or a dozen if the limit is small. */
const backgroundOf = (limit: number): number => Math.max(Math.ceil(limit / 4), Math.min(12, Math.floor(limit / 2)));
/** Each denial may affect another running request, so some are sent one after the other. */
const EXTRA_ROUNDS = 2;
/** Name of the phase. */
export const AT_CONCURRENCY_LIMIT = "at-concurrency-limit";
/** When the extra requests are sent once more, as a share of a stream's duration. */
const LATE_SHARE = 0.75;
/** Streams that are aborted midway, and the time for a gateway to notice, ms. */
const STREAMS_TO_ABORT = 4;
const LEFT_SETTLE_MS = 1_200;
/** Concurrent short requests meanwhile; four kinds. */
const BUSY = 16;
const BUSY_ROUNDS = 2;

/** Denied requests that retry after their Retry-After: enough to report a percentage. */
const WAITS = 36;
/** A longer Retry-After is not tested here: the streams that fill the limit take seconds. */
const MAX_WAIT_MS = 12_000;
/** Maximum number of concurrent retries; never more than half of the limit. */
const RETURN_AT_ONCE = 8;

/** Maximum number of requests that fill the limit. */
export function fillRequests(limit: number): number {
  const extras = 8 * (EXTRA_ROUNDS + 1);
  return limit + extraOf(limit) + extras + Math.min(WAITS, extraOf(limit) + extras);
}

/** Maximum number of requests that test whether capacity is released. */
export function releaseRequests(limit: number): number {
  return backgroundOf(limit) + BUSY * BUSY_ROUNDS + STREAMS_TO_ABORT + 4 + limit;
}

/**
 * Sends streams up to the limit and beyond, all at once, and further requests while the limit is reached. Denied requests retry
 * when their Retry-After has passed and there is room.
 */
export async function fillConcurrency(bench: TierBench, waits: RetryAfterWait[]): Promise<void> {
  const limit = bench.limits.inFlight;
  const startUs = nowUs();
  const streams = wave(bench, limit + extraOf(limit), "wave");
  // The limit is reached when the last of the wave has been admitted or denied and the first has not ended.
  await settledHeads(bench, streams);
  const extras = sendExtra(bench, EXTRA_ROUNDS);
  // Also late in their lifetime: a stream may stop counting while it is still running.
  const late = bench
    .wait(Math.max(0, bench.long.durationMs * LATE_SHARE - (nowUs() - startUs) / 1_000))
    .then(() => sendExtra(bench, 1));
  await Promise.all([...streams, extras, late]);
  await bench.wait(SETTLE_MS);
  const denied = bench.observations.filter((one) => one.phase === AT_CONCURRENCY_LIMIT && isConcurrencyDenial(one));
  waits.push(...(await retryDenied(bench, evenlyPicked(denied, WAITS))));
}

/** Denied requests wait for their Retry-After and are retried a few at a time: by then, nothing else is running. */
async function retryDenied(bench: TierBench, denied: readonly Observation[]): Promise<RetryAfterWait[]> {
  const atOnce = Math.max(1, Math.min(RETURN_AT_ONCE, Math.floor(bench.limits.inFlight / 2)));
  const waits: RetryAfterWait[] = [];
  const observed = [...denied].sort((a, b) => dueUs(a) - dueUs(b));
  for (let index = 0; index < observed.length; index += atOnce) {
    const some = observed.slice(index, index + atOnce);
    const untilUs = Math.max(...some.map(dueUs));
    const waitMs = (untilUs - nowUs()) / 1_000 + GRACE_MS;
    const usable = some.filter(
      ({ retryAfterWaitMs }) => retryAfterWaitMs !== undefined && retryAfterWaitMs <= MAX_WAIT_MS,
    );
    if (usable.length < some.length || waitMs > MAX_WAIT_MS || !(await bench.wait(waitMs))) {
      waits.push(...some.map((denial) => ({ denial, outcome: "untested" as const, actualMs: undefined })));
      continue;
    }
    waits.push(...(await Promise.all(some.map((denial) => retry(bench, denial)))));
  }
  return waits;
}

/** When a denied request may be retried, µs. */
function dueUs({ endUs, retryAfterWaitMs }: Observation): number {
  return endUs + Math.min(retryAfterWaitMs ?? 0, MAX_WAIT_MS * 2) * 1_000;
}

async function retry(bench: TierBench, denial: Observation): Promise<RetryAfterWait> {
  const { dialect, stream } = denial;
  const again = await bench.send({ dialect, stream, kind: "echo" }, "return");
  if (again === undefined) return { denial, outcome: "untested", actualMs: undefined };
  if (isAdmitted(again)) return { denial, outcome: "sufficient", actualMs: (again.sentUs - denial.endUs) / 1_000 };
  // Denied by another limit: this says nothing about the wait for this one.
  return { denial, outcome: isConcurrencyDenial(again) ? "insufficient" : "contended", actualMs: undefined };
}

function evenlyPicked<T>(all: readonly T[], most: number): T[] {
  const step = Math.max(1, all.length / most);
  return Array.from({ length: Math.min(all.length, most) }, (_, index) => all[Math.floor(index * step)] as T);
}

/** Sends short requests while streams run; then a wave of exactly the limit, part of which would be denied after a leak. */
export async function releaseConcurrency(bench: TierBench): Promise<void> {
  const limit = bench.limits.inFlight;
  const background = wave(bench, backgroundOf(limit), "background");
  await bench.wait(Math.min(400, bench.long.durationMs / 4));
  for (let round = 0; round < BUSY_ROUNDS; round++) {
    const kinds = bench.kinds("echo");
    const count = Math.min(BUSY, Math.max(4, Math.floor(limit / 2)));
    await Promise.all(
      Array.from({ length: count }, (_, index) => bench.send(kinds[index % kinds.length] as TierRequest, "busy")),
    );
  }
  await Promise.all(background);
  await abortSomeStreams(bench);
  await bench.wait(SETTLE_MS);
  if (bench.stopped) return;
  await Promise.all(wave(bench, limit, "again"));
  await bench.wait(SETTLE_MS);
}

/** Some clients abort midway; the next ones must get their own responses. */
async function abortSomeStreams(bench: TierBench): Promise<void> {
  const left = wave(bench, STREAMS_TO_ABORT, LEFT);
  await bench.wait(Math.min(300, bench.long.durationMs / 3));
  bench.sender.abortAll();
  await Promise.all(left);
  // Long enough for the gateway to notice the disconnects.
  await bench.wait(150);
  await Promise.all(bench.kinds("echo").map((request) => bench.send(request, "busy")));
  await bench.wait(LEFT_SETTLE_MS);
}

export function wave(bench: TierBench, count: number, role: string): Promise<Observation | undefined>[] {
  const requests = bench.longStreams();
  const streams = Array.from({ length: count }, (_, index) =>
    bench.send(requests[index % requests.length] as TierRequest, role),
  );
  bench.waves.add(streams);
  return streams;
}

/** Waits until most of the wave has probably been decided: denials arrive immediately, response heads soon. */
async function settledHeads(bench: TierBench, streams: readonly Promise<Observation | undefined>[]): Promise<void> {
  const first = Promise.race(streams);
  await Promise.race([first.then(() => bench.wait(100)), bench.wait(Math.max(200, bench.long.durationMs * 0.35))]);
}

/** One request of every kind with each key, while the limit is reached. */
async function sendExtra(bench: TierBench, rounds: number): Promise<void> {
  const requests = [0, 1]
    .slice(0, bench.keys.length)
    .flatMap((key) => bench.kinds("echo").map((request) => ({ ...request, key })));
  for (let round = 0; round < rounds; round++) {
    await Promise.all(requests.map((request) => bench.send(request, "extra")));
    await bench.wait(50);
  }
}

export interface ConcurrencyJudged {
  /** Everything that the run has sent so far: earlier requests may still count. */
  readonly all: readonly Observation[];
  readonly limit: number;
  /** When this process was stalled. */
  readonly stalledSpans: readonly Stretch[];
}

export function judgeConcurrencyLimit(
  observations: readonly Observation[],
  { all, limit, stalledSpans }: ConcurrencyJudged,
): Finding[] {
  const streams = observations.filter(({ role }) => role === "wave");
  const extras = observations.filter(({ role }) => role === "extra");
  const admitted = streams.filter(isAdmitted);
  const rate = observations.filter(isRateDenial);
  const denied = observations.filter(isConcurrencyDenial);
  const surely = minPeakInFlight(observations, stalledSpans);
  const beyond = admittedBeyond(observations, limit, stalledSpans);
  const held = minPeakInFlight(streams, stalledSpans);
  const counted = `${admitted.length} of ${streams.length} concurrent streams and ${extras.filter(isAdmitted).length} of ${extras.length} extra requests were admitted`;
  // Concurrency is measured directly: more running requests than the limit have no other explanation.
  const exceeded = finding({
    name: "concurrency.exceeded",
    title: "The number of concurrent requests stays within the limit",
    requirements: ["LIMIT-CONC-2"],
    met: surely <= limit && beyond.length === 0,
    expected: `at most ${limit} requests in flight`,
    observed: `${surely > limit ? surely : `${beyond.length} admitted while ${limit} were in flight`}; ${counted}`,
    basis: "timing",
    exchanges: exchangesOf([...beyond, ...admitted]),
    magnitude: Math.max(surely, limit + beyond.length) / limit,
  });
  const title = "More requests in flight than the limit are denied";
  if (held < limit && denied.length === 0) {
    const why =
      rate.length > 0
        ? `the rate limit was reached first: it denied ${rate.length} of ${observations.length}`
        : `only ${held} of ${limit} streams certainly overlapped. Set models.stream to a model with longer streams`;
    const unreached = finding({
      name: "concurrency.not-enforced",
      title,
      requirements: ["LIMIT-CONC-1"],
      undecided: why,
      basis: "timing",
    });
    return surely > limit || beyond.length > 0 ? [exceeded, unreached] : [unreached];
  }
  const early = denied.filter((denial) => maxInFlightAtDenial(denial, all, SETTLE_MS) < limit);
  return [
    exceeded,
    finding({
      name: "concurrency.denied-early",
      title: "Nothing is denied below the limit",
      requirements: ["LIMIT-CONC-2"],
      met: early.length === 0,
      expected: "0 denied",
      observed: `${early.length} denied with fewer than ${limit} possibly running; ${counted}`,
      basis: "timing",
      exchanges: exchangesOf(early),
      magnitude: ratioOf(early.length, observations.length),
    }),
    finding({
      name: "concurrency.not-enforced",
      title,
      requirements: ["LIMIT-CONC-1"],
      met: denied.length > 0,
      expected: "at least one denial",
      observed: `${denied.length} of ${observations.length} denied by the concurrency limit`,
      basis: "timing",
    }),
  ];
}

export function judgeConcurrencyRelease(
  observations: readonly Observation[],
  { all, limit }: Omit<ConcurrencyJudged, "stalledSpans">,
): Finding[] {
  const leaked = observations.filter(
    (one) => isConcurrencyDenial(one) && maxInFlightAtDenial(one, all, SETTLE_MS) < limit,
  );
  const rate = observations.filter(isRateDenial);
  const admitted = observations.filter((one) => one.role === "again" && isAdmitted(one)).length;
  // Aborted requests may count a little longer.
  if (leaked.length === 0 && admitted < limit - STREAMS_TO_ABORT) {
    const why = `${admitted} of ${limit} concurrent requests were admitted, and ${rate.length} of ${observations.length} denied by the rate limit`;
    return [
      finding({
        name: "concurrency.leaked",
        title: "Ended requests no longer count",
        requirements: ["LIMIT-CONC-4"],
        undecided: why,
        basis: "timing",
      }),
    ];
  }
  const observed = `${leaked.length} of ${observations.length} denied with fewer than ${limit} possibly running`;
  return [
    finding({
      name: "concurrency.leaked",
      title: "Ended requests no longer count",
      requirements: ["LIMIT-CONC-4"],
      met: leaked.length === 0,
      expected: "0 denied",
      observed,
      basis: "timing",
      exchanges: exchangesOf(leaked),
      magnitude: ratioOf(leaked.length, observations.length),
    }),
  ];
}
