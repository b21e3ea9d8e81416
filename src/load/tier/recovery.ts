import { seededRandom } from "../../core/index.ts";
import { nowUs } from "../../http/load-client/index.ts";
import { finding, type Observation } from "../../judging/index.ts";
import {
  isAdmitted,
  isConcurrencyDenial,
  isRateDenial,
  maxInFlightAtDenial,
  type RetryAfterWait,
  tallyWaits,
  WINDOW_OVER_MS,
} from "../../limits/index.ts";
import type { Finding } from "../../record/index.ts";
import { ratioOf } from "../measure/phase-record.ts";
import { type ClientsOutcome, runClients } from "../schedule/compliant-clients.ts";
import { DEFAULT_RETRY } from "../schedule/retry-rules.ts";
import { SETTLE_MS, wave } from "./at-concurrency-limit.ts";
import { exchangesOf } from "./observations.ts";
import { GRACE_MS } from "./retry-after-waits.ts";
import type { TierBench, TierRequest } from "./tier-bench.ts";

/** Clients of the fleet: enough to reveal a herd, few enough that the limit has room for each within seconds. */
export const fleetOf = (limit: number): number => Math.max(4, Math.min(40, Math.floor(limit / 2)));
/** A client of the fleet stops trying after this time, ms: every one-minute window has passed by then. */
const FLEET_MS = 75_000;
const FLEET_ATTEMPTS = 12;
/** Attempts of a client that is admitted after its Retry-After wait, plus a reserve. */
const USUAL_ATTEMPTS = 3;
/** Duration of a recovery if each denial states the short wait that is left, s. */
const USUAL_S = 15;
/** Maximum number of waves: one that was denied by the rate limit is sent once more when its wait is over. */
const WAVES = 2;
/** Requests beyond the limit in the last wave: denying these must not affect the others either. */
const BEYOND = 4;

export interface RecoveryScript {
  /** The Retry-After waits of the fleet, with their outcomes. */
  waits: readonly RetryAfterWait[];
  fleet: ClientsOutcome<Observation> | undefined;
  fleetStartUs: number;
  fleetEndUs: number;
}

export function recoverySeconds({ rpm, inFlight }: { rpm: number; inFlight: number }): number {
  return USUAL_S + inFlight / (rpm / 60) + 6;
}

/** Maximum number of requests of the phase if the fleet is admitted after its Retry-After waits. */
export function recoveryRequests(limit: number): number {
  return fleetOf(limit) * USUAL_ATTEMPTS + WAVES * (limit + BEYOND);
}

/**
 * A fleet of compliant clients recovers from the overload; then a wave of `BEYOND` more than the limit reveals leaks. It is sent
 * once the rate limit should admit it, and a second time if the rate limit denied part of it.
 */
export async function recover(bench: TierBench, script: RecoveryScript, seed: number): Promise<void> {
  const kinds = bench.kinds("echo");
  const { inFlight: limit } = bench.limits;
  script.fleetStartUs = nowUs();
  script.fleet = await runClients<Observation>({
    clients: fleetOf(limit),
    retryAfter: "compliant",
    random: seededRandom(seed),
    signal: bench.stop,
    retry: { ...DEFAULT_RETRY, maxAttempts: FLEET_ATTEMPTS, longestRetryAfterMs: WINDOW_OVER_MS },
    untilMs: FLEET_MS,
    graceMs: GRACE_MS,
    attempt: async (client) => {
      const seen = await bench.send(kinds[client % kinds.length] as TierRequest, "fleet");
      const waitMs = seen?.retryAfterWaitMs ?? 0;
      // Clients do not wait longer than this.
      if (waitMs > 0 && waitMs <= WINDOW_OVER_MS) bench.showWait(waitMs, "Retry-After");
      return seen;
    },
  });
  script.fleetEndUs = nowUs();
  for (let attempt = 0; attempt < WAVES; attempt++) {
    await bench.wait(roomMs(bench, limit + BEYOND), "the rate window");
    if (bench.stopped) return;
    const sent = await Promise.all(wave(bench, limit + BEYOND, "again"));
    const denied = sent.filter((one) => one !== undefined && isRateDenial(one)).map((one) => one as Observation);
    if (denied.length === 0 || attempt === WAVES - 1) return;
    const waitMs = Math.max(...denied.map(({ retryAfterWaitMs }) => retryAfterWaitMs ?? WINDOW_OVER_MS));
    await bench.wait(Math.min(WINDOW_OVER_MS, waitMs + GRACE_MS), "Retry-After");
  }
}

/** How long until the rate certainly has room for this many: until enough of the last minute's admissions are a minute old. */
function roomMs(bench: TierBench, count: number): number {
  const nowAtUs = nowUs();
  const recent = bench.observations
    .filter((one) => isAdmitted(one) && one.endUs > nowAtUs - WINDOW_OVER_MS * 1_000)
    .map(({ endUs }) => endUs)
    .sort((a, b) => a - b);
  const tooMany = recent.length + count - bench.limits.rpm;
  const last = recent[Math.min(tooMany, recent.length) - 1];
  return Math.max(1_000, last === undefined ? 0 : (last - nowAtUs) / 1_000 + WINDOW_OVER_MS);
}

/** Maximum number of retries within the same 100 ms, as a share of the clients. */
export function herdShare(fleet: ClientsOutcome<Observation>): number {
  const returns = fleet.attempts
    .flatMap((attempts) => attempts.slice(1).map(({ sentUs }) => sentUs))
    .sort((a, b) => a - b);
  let most = 0;
  for (let from = 0, to = 0; to < returns.length; to++) {
    while ((returns[to] as number) - (returns[from] as number) > 100_000) from++;
    most = Math.max(most, to - from + 1);
  }
  return fleet.attempts.length === 0 ? 0 : most / fleet.attempts.length;
}

export function judgeRecovery(
  observations: readonly Observation[],
  all: readonly Observation[],
  script: RecoveryScript,
  limit: number,
): Finding[] {
  return [...judgeFleet(observations, script), judgeLastWave(observations, all, limit)];
}

/** If no client was served although waits were tested, their Retry-After was too short. That is decided. */
function judgeFleet(observations: readonly Observation[], { fleet, waits }: RecoveryScript): Finding[] {
  const title = "Clients that honour Retry-After are served after an overload";
  if (fleet === undefined)
    return [
      finding({
        name: "recovery.served",
        title,
        requirements: ["LIMIT-RATE-6"],
        undecided: "no client was started",
        basis: "timing",
      }),
    ];
  const denied = observations.filter(({ role }) => role === "fleet").filter(isRateDenial).length;
  const observed = `${fleet.served} of ${fleet.attempts.length} served after ${denied} denials; at most ${Math.round(herdShare(fleet) * 100)} % of the clients retried within the same 100 ms`;
  const met = fleet.served > 0;
  return [
    !met && tallyWaits(waits).tested === 0
      ? finding({
          name: "recovery.served",
          title,
          requirements: ["LIMIT-RATE-6"],
          undecided: observed,
          basis: "timing",
        })
      : finding({
          name: "recovery.served",
          title,
          requirements: ["LIMIT-RATE-6"],
          met,
          expected: "at least 1 served",
          observed,
          basis: "timing",
          weight: "warn",
        }),
    judgeOwnClients(fleet),
  ];
}

/** Whether our own clients followed the retry rules: otherwise, their results say nothing about the gateway. */
export function judgeOwnClients({
  earlySends,
  forbiddenRetries,
  retries,
}: Pick<ClientsOutcome<Observation>, "earlySends" | "forbiddenRetries" | "retries">): Finding {
  const title = "The harness's own clients follow the retry rules";
  const observed = `${earlySends} early, ${forbiddenRetries} forbidden of ${retries} retries`;
  return earlySends + forbiddenRetries === 0
    ? finding({
        name: "client.rules",
        title,
        requirements: ["RETRY-1"],
        met: true,
        expected: "0 early, 0 forbidden",
        observed,
        basis: "timing",
      })
    : finding({ name: "client.rules", title, requirements: ["RETRY-1"], undecided: observed, basis: "timing" });
}

/** The last wave decides: an earlier one may have reached the rate limit. */
function judgeLastWave(observations: readonly Observation[], all: readonly Observation[], limit: number): Finding {
  const again = observations.filter(({ role }) => role === "again");
  const leaked = again.filter((one) => isConcurrencyDenial(one) && maxInFlightAtDenial(one, all, SETTLE_MS) < limit);
  const title = "The earlier phases leaked no capacity";
  const admitted = again.slice(-(limit + BEYOND)).filter(isAdmitted).length;
  if (leaked.length === 0 && admitted < limit) {
    const rate = again.filter(isRateDenial).length;
    const why = `${admitted} of ${limit} concurrent requests were admitted, and ${rate} of ${again.length} denied by the rate limit`;
    return finding({
      name: "concurrency.leaked",
      title,
      requirements: ["LIMIT-CONC-4"],
      undecided: why,
      basis: "timing",
    });
  }
  return finding({
    name: "concurrency.leaked",
    title,
    requirements: ["LIMIT-CONC-4"],
    met: leaked.length === 0,
    expected: "0 denied",
    observed: `${leaked.length} of ${again.length} denied with fewer than ${limit} possibly running`,
    basis: "timing",
    exchanges: exchangesOf(leaked),
    magnitude: ratioOf(leaked.length, again.length),
  });
}
