import { formatNumber } from "../../core/index.ts";
import { nowUs } from "../../http/load-client/index.ts";
import { finding, type Observation } from "../../judging/index.ts";
import {
  fullestWindow,
  isAdmitted,
  isLessThanLimit,
  isRateDenial,
  type RetryAfterWait,
  TOLERANCE,
  WINDOW_US,
} from "../../limits/index.ts";
import type { Finding } from "../../record/index.ts";
import type { Limits } from "../../target/index.ts";
import { exchangesOf } from "./observations.ts";
import { type Denied, testWaitsOneByOne } from "./retry-after-waits.ts";
import type { TierBench, TierRequest } from "./tier-bench.ts";

/** Name of the phase. */
export const OVER_THE_LIMIT = "over-rate-limit";
/** Rate of the evenly spaced overload, as a multiple of the limit. */
export const OVERLOAD_FACTOR = 2;
/** Sent at once when the limit is nearly reached: a limiter with a race between check and count admits all of them. */
const pulseOf = (limit: number): number => Math.max(4, Math.floor(limit * 0.75));
/** "Nearly reached": the limit has as many requests left as even traffic sends in this time, but at least this many. */
const NEAR_S = 0.4;
const MIN_NEAR = 3;
/** Minimum time between two pulses, ms, and their maximum number. */
const PULSE_EVERY_MS = 3_000;
const MAX_PULSES = 8;
/** Overload lasts for a minute from the first denial, and then until the limit has been reached once more; s. */
const MIN_S = 61;
const MAX_S = 95;
/**
 * When exhausting the rate: requests sent at once as a share of the concurrency limit, and in total as a share of the rate limit.
 */
const EXHAUST_AT_ONCE = 0.5;
const EXHAUST_SHARE = 1.2;
/** Both dialects, non-streaming and streaming. */
const KINDS = 4;

/** Maximum duration of the phase, s. */
export const OVER_SECONDS = MAX_S;

type RateAndConcurrency = Pick<Limits, "rpm" | "inFlight">;

/** More than this in a minute exceeds the limit. */
const boundOf = (rpm: number): number => Math.ceil(rpm * (1 + TOLERANCE)) + 2;

/**
 * Remaining requests of the limit at which a pulse is sent; `undefined` if no pulse is large enough to exceed the counting
 * tolerance.
 */
function nearOf({ rpm, inFlight }: RateAndConcurrency): number | undefined {
  const most = pulseOf(inFlight) - (boundOf(rpm) - rpm) - 1;
  if (most < MIN_NEAR) return undefined;
  return Math.min(most, Math.max(MIN_NEAR, Math.round((rpm / 60) * OVERLOAD_FACTOR * NEAR_S)));
}

/** Maximum number of requests of the phase. */
export function overRequests(rpm: number, limit: number): number {
  return (
    Math.ceil(rpm * EXHAUST_SHARE + MAX_S * (rpm / 60) * OVERLOAD_FACTOR + MAX_PULSES * pulseOf(limit)) +
    limit +
    2 * KINDS
  );
}

/**
 * Exhausts the rate at once, tests the Retry-After of a denial with nothing else in flight, then overloads for over a minute.
 *
 * @param waits receives the results of the Retry-After waits. @param longestWaitMs a longer Retry-After is not tested.
 */
export async function overTheLimit(bench: TierBench, waits: RetryAfterWait[], longestWaitMs: number): Promise<void> {
  const kinds = bench.kinds("echo");
  const pick = (index: number) => kinds[index % kinds.length] as TierRequest;
  if (await exhaust(bench, pick))
    waits.push(...(await testWaitsOneByOne(bench, await deniedNow(bench, kinds), longestWaitMs)));
  if (!bench.stopped) await overload(bench, pick);
}

/** Sends one request of every kind, and returns those that are denied. */
async function deniedNow(bench: TierBench, kinds: readonly TierRequest[]): Promise<Denied[]> {
  const denied: Denied[] = [];
  for (const request of kinds) {
    const denial = await bench.send(request, "exhausted");
    if (denial !== undefined && isRateDenial(denial)) denied.push({ request, denial });
  }
  return denied;
}

/** Sends as many at once as the concurrency limit allows until one is denied by the rate limit. @returns whether one was. */
async function exhaust(bench: TierBench, pick: (index: number) => TierRequest): Promise<boolean> {
  const atOnce = Math.max(1, Math.floor(bench.limits.inFlight * EXHAUST_AT_ONCE));
  for (let sent = 0; sent < bench.limits.rpm * EXHAUST_SHARE && !bench.stopped; sent += atOnce) {
    const wave = await Promise.all(Array.from({ length: atOnce }, (_, index) => bench.send(pick(index), "exhaust")));
    if (wave.some((observation) => observation !== undefined && isRateDenial(observation))) return true;
  }
  return false;
}

/** Twice the rate, evenly, and a pulse whenever the limit is nearly reached. */
async function overload(bench: TierBench, pick: (index: number) => TierRequest): Promise<void> {
  const startUs = nowUs();
  const { limits } = bench;
  const reached = new LimitProximity(limits.rpm - (nearOf(limits) ?? MIN_NEAR));
  const everyUs = 1_000_000 / (bench.ratePerS * OVERLOAD_FACTOR);
  const pulse = pulseOf(limits.inFlight);
  const sent: Promise<unknown>[] = [];
  const send = (index: number, role: string, dueUs: number) =>
    sent.push(bench.send(pick(index), role, dueUs).then((one) => one !== undefined && reached.note(one)));
  let pulses = 0;
  let pulsedUs = 0;
  for (let index = 0; ; index++) {
    const dueUs = startUs + index * everyUs;
    const elapsedS = (dueUs - startUs) / 1e6;
    if (elapsedS > MAX_S || (elapsedS > MIN_S && reached.hasFullWindow(dueUs) && pulses > 0)) break;
    const waitMs = (dueUs - nowUs()) / 1_000;
    if (waitMs > 0.5 && !(await bench.wait(waitMs))) break;
    send(index, "even", dueUs);
    const isNear = reached.isNear(nowUs());
    if (!isNear || pulses >= MAX_PULSES || dueUs - pulsedUs < PULSE_EVERY_MS * 1_000) continue;
    pulses++;
    pulsedUs = dueUs;
    const pulseUs = nowUs();
    for (let one = 0; one < pulse; one++) send(one, "pulse", pulseUs);
  }
  await Promise.all(sent);
}

/** Tracks how close the limit is, from the responses as they arrive. */
class LimitProximity {
  readonly #nearlyAll: number;
  /** When denied and admitted requests were sent, in the order of their responses, µs. */
  readonly #deniedUs: number[] = [];
  readonly #admittedUs: number[] = [];
  #lastAdmitted = false;
  /** Denials before this index are older than a window and remain so. */
  #firstDenied = 0;
  /** Admissions since a denial, and the index up to which they have been counted. */
  #counted = { fromUs: Number.NaN, next: 0, count: 0 };

  /** @param nearlyAll the limit is nearly reached when this many were admitted since a denial. */
  constructor(nearlyAll: number) {
    this.#nearlyAll = nearlyAll;
  }

  note(one: Observation): void {
    this.#lastAdmitted = isAdmitted(one);
    if (this.#lastAdmitted) this.#admittedUs.push(one.sentUs);
    if (isRateDenial(one)) this.#deniedUs.push(one.sentUs);
  }

  /** Whether the limit is nearly reached. Called before every request, with times that never decrease. */
  isNear(atUs: number): boolean {
    if (!this.#lastAdmitted) return false;
    while ((this.#deniedUs[this.#firstDenied] ?? Number.POSITIVE_INFINITY) <= atUs - WINDOW_US) this.#firstDenied++;
    const fromUs = this.#deniedUs[this.#firstDenied];
    return fromUs !== undefined && this.#admittedSince(fromUs) >= this.#nearlyAll;
  }

  #admittedSince(fromUs: number): number {
    if (this.#counted.fromUs !== fromUs) this.#counted = { fromUs, next: 0, count: 0 };
    const counted = this.#counted;
    for (; counted.next < this.#admittedUs.length; counted.next++)
      if ((this.#admittedUs[counted.next] as number) > fromUs) counted.count++;
    return counted.count;
  }

  /** Whether a full window has passed since a denial. */
  hasFullWindow(atUs: number): boolean {
    return (this.#deniedUs[0] ?? Number.POSITIVE_INFINITY) < atUs - WINDOW_US;
  }
}

/** @param adaptive false if another engine executed a fixed schedule: nothing in it waits for the limit. */
export function judgeOverTheLimit(
  observations: readonly Observation[],
  limits: RateAndConcurrency,
  adaptive: boolean,
): Finding[] {
  const denied = observations.filter(isRateDenial);
  return [judgeEnforced(observations, denied, limits.rpm), ...judgeExceeded(observations, denied, limits, adaptive)];
}

function judgeEnforced(observations: readonly Observation[], denied: readonly Observation[], rpm: number): Finding {
  const title = "Sending faster than the limit is denied";
  // Any window admits fewer than this.
  if (denied.length === 0 && observations.length < rpm * 2)
    return finding({
      name: "rate.not-enforced",
      title,
      requirements: ["LIMIT-RATE-1"],
      undecided: `only ${observations.length} requests were sent`,
      basis: "timing",
    });
  const observed = `${denied.length} of ${observations.length} denied`;
  return finding({
    name: "rate.not-enforced",
    title,
    requirements: ["LIMIT-RATE-1"],
    met: denied.length > 0,
    expected: "at least one denial",
    observed,
    basis: "timing",
  });
}

function judgeExceeded(
  observations: readonly Observation[],
  denied: readonly Observation[],
  limits: RateAndConcurrency,
  adaptive: boolean,
): Finding[] {
  const { rpm } = limits;
  const title = "Once the limit was reached, no more than the limit is admitted in the minute that follows";
  const lastUs = Math.max(0, ...observations.map(({ sentUs }) => sentUs));
  const whole = denied.filter(({ sentUs }) => sentUs + WINDOW_US <= lastUs);
  const most = fullestWindow(observations, denied);
  const bound = boundOf(rpm);
  const count = most?.admitted.length ?? 0;
  const open =
    whole.length === 0
      ? "the overload lasted less than a minute after the first denial"
      : adaptive
        ? missedPulse(observations, count, limits)
        : undefined;
  if (most === undefined)
    return [
      finding({
        name: "rate.exceeded",
        title,
        requirements: ["LIMIT-RATE-2"],
        undecided: "nothing was denied",
        basis: "timing",
      }),
    ];
  if (count <= bound && open !== undefined)
    return [
      finding({ name: "rate.exceeded", title, requirements: ["LIMIT-RATE-2"], undecided: open, basis: "timing" }),
    ];
  const observed = `${count} admitted after a denial`;
  return [
    finding({
      name: "rate.exceeded",
      title,
      requirements: ["LIMIT-RATE-2"],
      met: count <= bound,
      expected: `at most ${bound}`,
      observed,
      basis: "timing",
      exchanges: exchangesOf([most.denial, ...most.admitted.slice(-4)]),
      magnitude: count / bound,
    }),
    // A gateway may count denied requests (LIMIT-RATE-8 is open): it then admits less under overload.
    finding({
      name: "rate.measured",
      title: "Admitted in a minute of overload",
      requirements: ["LIMIT-RATE-8"],
      observed: isLessThanLimit(count, rpm)
        ? `${formatNumber(count)}, less than the limit of ${formatNumber(rpm)}: denied requests may count toward the limit`
        : `${formatNumber(count)}, limit ${formatNumber(rpm)}`,
      basis: "timing",
    }),
  ];
}

/**
 * Why a limiter with a race between check and count may have gone undetected; `undefined` if it would have been detected, or
 * cannot be.
 */
function missedPulse(
  observations: readonly Observation[],
  count: number,
  limits: RateAndConcurrency,
): string | undefined {
  const near = nearOf(limits);
  // A gateway that counts denied requests admits less: the limit is never nearly reached.
  if (near === undefined || count < limits.rpm - near) return undefined;
  const even = observations.filter(({ role }) => role === "even");
  const halfUs = 60_000_000 / limits.rpm / OVERLOAD_FACTOR / 2;
  const pulses = observations.filter(({ role }) => role === "pulse");
  const isInTime = (dueUs: number) => {
    const before = even.findLast(({ sentUs }) => sentUs < dueUs - halfUs);
    return (before !== undefined && isAdmitted(before)) || pulses.some((one) => one.dueUs === dueUs && isAdmitted(one));
  };
  return [...new Set(pulses.map(({ dueUs }) => dueUs))].some(isInTime)
    ? undefined
    : "no burst was sent just before the limit was reached: this machine was too busy";
}
