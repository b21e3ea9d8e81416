import { seededRandom } from "../../core/index.ts";
import type { LoadFinding } from "../../record/index.ts";
import { nowUs } from "../http/load-exchange.ts";
import { type Attempt, type ClientsOutcome, runClients } from "../obeying-clients.ts";
import { claim, fact } from "../phase-record.ts";
import { DEFAULT_RETRY } from "../retry-rules.ts";
import { type Fact, isAdmitted, isRateDenial, isSlotDenial, samplesOf } from "./facts.ts";
import { SETTLE_MS, wave } from "./full-house.ts";
import { mostPossibly } from "./overlap.ts";
import { GRACE_MS, type Promise_ } from "./promises.ts";
import type { Ask, TierBench } from "./tier-bench.ts";

/** Clients of the fleet: enough to see a herd, few enough that the limit has room for each within seconds. */
export const fleetOf = (slots: number): number => Math.max(4, Math.min(40, Math.floor(slots / 2)));
/** A client of the fleet gives up after this long, ms. */
const FLEET_MS = 12_000;
/** A hint beyond this is not waited for, ms. */
const FLEET_HINT_MS = 10_000;
const FLEET_ATTEMPTS = 8;
/** Of the last wave, beyond the limit: denying these must not harm the others either. */
const BEYOND = 4;

export type Attempted = Attempt & { readonly fact: Fact };

export interface RecoveryScript {
  fleet: ClientsOutcome<Attempted> | undefined;
  fleetStartUs: number;
  fleetEndUs: number;
}

export function recoverySeconds({ rpm, inFlight }: { rpm: number; inFlight: number }): number {
  return Math.max(FLEET_MS / 1_000, inFlight / (rpm / 60)) + 6;
}

/** A fleet of obeying clients comes back from the overload; then a wave of exactly the limit shows what was leaked. */
export async function recover(bench: TierBench, script: RecoveryScript, seed: number): Promise<void> {
  const kinds = bench.kinds("echo");
  const { inFlight: slots } = bench.limits;
  script.fleetStartUs = nowUs();
  script.fleet = await runClients<Attempted>({
    clients: fleetOf(slots),
    behaviour: "obey",
    random: seededRandom(seed),
    signal: bench.stop,
    retry: { ...DEFAULT_RETRY, maxAttempts: FLEET_ATTEMPTS, longestHintMs: FLEET_HINT_MS },
    untilMs: FLEET_MS,
    graceMs: GRACE_MS,
    attempt: async (client) => attemptOf(await bench.send(kinds[client % kinds.length] as Ask, "fleet")),
  });
  script.fleetEndUs = nowUs();
  // A full wave needs room in the rate: as much time as the rate needs for it.
  const quietMs = (slots / bench.ratePerS) * 1_000 + 1_000;
  await bench.wait(quietMs);
  if (bench.stopped) return;
  await Promise.all(wave(bench, slots + BEYOND, "again"));
}

export function attemptOf(one: Fact | undefined): Attempted | undefined {
  if (one === undefined) return undefined;
  return {
    fact: one,
    status: one.status === 0 ? undefined : one.status,
    reason: one.outcome === "denied" ? one.what : undefined,
    complete: one.outcome === "admitted" || one.outcome === "denied" || one.status >= 500,
    timedOut: one.what === "deadline" || one.what === "idle-timeout",
    hintMs: one.promisedMs,
    sentUs: one.sentUs,
    endUs: one.endUs,
  };
}

/**
 * What became of the promises of a fleet. One that came back as told and was denied again was contended when somebody
 * else had been admitted meanwhile: what became free went to another. When nobody had, the promise was broken.
 */
export function fleetPromises(fleet: ClientsOutcome<Attempted>, all: readonly Fact[]): Promise_[] {
  const admittedAt = all.filter(isAdmitted).map(({ sentUs }) => sentUs);
  return fleet.attempts.flatMap((attempts) =>
    attempts.flatMap(({ fact: denial }, index): Promise_[] => {
      const next = attempts[index + 1]?.fact;
      if (denial.outcome !== "denied") return [];
      if (next === undefined || denial.promisedMs === undefined)
        return [{ denial, outcome: "untested", actualMs: undefined }];
      if (isAdmitted(next)) return [{ denial, outcome: "kept", actualMs: (next.sentUs - denial.endUs) / 1_000 }];
      const others = admittedAt.some((atUs) => atUs > denial.sentUs && atUs <= next.endUs);
      return [{ denial, outcome: others || !isRateDenial(next) ? "contended" : "broken", actualMs: undefined }];
    }),
  );
}

/** Most attempts within 100 ms after the first ones, as a share of the clients. */
export function herdShare(fleet: ClientsOutcome<Attempted>): number {
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
  facts: readonly Fact[],
  all: readonly Fact[],
  script: RecoveryScript,
  slots: number,
): LoadFinding[] {
  const { fleet } = script;
  const again = facts.filter(({ role }) => role === "again");
  const findings: LoadFinding[] = [];
  if (fleet !== undefined) {
    const denied = facts.filter(({ role }) => role === "fleet").filter(isRateDenial).length;
    findings.push(
      fact(
        "fleet.recovered",
        "Obeying clients come back",
        ["LIMIT-RATE-6"],
        `${fleet.served} of ${fleet.attempts.length} served after ${denied} denials, ${Math.round(herdShare(fleet) * 100)} % of them at once at most`,
      ),
      claim(
        "client.rules",
        "The harness's own clients obey the retry rules",
        ["RETRY-1"],
        fleet.earlySends + fleet.forbiddenRetries === 0,
        "0 early, 0 forbidden",
        `${fleet.earlySends} early, ${fleet.forbiddenRetries} forbidden of ${fleet.retries} retries`,
      ),
    );
  }
  const leaked = again.filter((one) => isSlotDenial(one) && mostPossibly(one, all, SETTLE_MS) < slots);
  const rate = again.filter(isRateDenial).length;
  if (rate > 0 && leaked.length === 0) {
    findings.push(
      fact(
        "slots.leaked",
        "Nothing was leaked",
        ["LIMIT-CONC-4"],
        `not decided: ${rate} of ${again.length} denied for the rate`,
      ),
    );
  } else if (again.length > 0) {
    findings.push(
      claim(
        "slots.leaked",
        "Nothing was leaked by all that went before",
        ["LIMIT-CONC-4"],
        leaked.length === 0,
        "0 denied",
        `${leaked.length} of ${again.length} denied with fewer than ${slots} possibly running`,
        { exchanges: samplesOf(leaked) },
      ),
    );
  }
  return findings;
}
