import type { Observation } from "../../../judging/index.ts";
import { earlyRetries, isRateDenial, type RetryAfterWait, shareOfTested, tallyWaits } from "../../../limits/index.ts";
import { Histogram } from "../../../metrics/index.ts";
import type { RetryAfterFigures } from "../../../record/index.ts";
import type { ClientsOutcome } from "../../schedule/compliant-clients.ts";
import { herdShare, type RecoveryScript } from "../recovery.ts";

/** Maximum number of points in the scatter plot. */
const MAX_SAMPLES = 400;

/** How reliable Retry-After was, and how our own clients behaved. */
export function retryFigures(
  observations: readonly Observation[],
  waits: readonly RetryAfterWait[],
  script: RecoveryScript,
  originUs: number,
): RetryAfterFigures {
  const denied = observations.filter(({ outcome }) => outcome === "denied");
  const { tested, sufficient } = tallyWaits(waits);
  const names = [...new Set(denied.map((one) => `${one.what} ${one.dialect} ${one.stream}`))];
  const { fleet } = script;
  return {
    clients: "compliant",
    groups: names.map((name) =>
      groupOf(
        denied.filter((one) => `${one.what} ${one.dialect} ${one.stream}` === name),
        observations,
        waits,
      ),
    ),
    tested,
    sufficient,
    sufficientShare: shareOfTested(sufficient, tested),
    samples: samplesOf(denied, waits, originUs),
    client: {
      earlySends: fleet?.earlySends ?? 0,
      forbiddenRetries: fleet?.forbiddenRetries ?? 0,
      retries: fleet?.retries ?? 0,
      aborted: fleet?.aborted ?? 0,
      uncertain: fleet?.uncertain ?? 0,
    },
    fleet: fleet === undefined ? null : fleetFigures(fleet, script),
  };
}

function groupOf(
  own: readonly Observation[],
  observations: readonly Observation[],
  waits: readonly RetryAfterWait[],
): RetryAfterFigures["groups"][number] {
  const [first] = own as [Observation, ...Observation[]];
  const tested = waits.filter(({ denial }) => own.includes(denial));
  const of = (outcome: RetryAfterWait["outcome"]) => tested.filter((one) => one.outcome === outcome).length;
  const requested = new Histogram();
  const actual = new Histogram();
  for (const { retryAfterWaitMs } of own)
    if (retryAfterWaitMs !== undefined) requested.record(retryAfterWaitMs * 1_000);
  for (const { actualMs } of tested) if (actualMs !== undefined) actual.record(actualMs * 1_000);
  const probes = isRateDenial(first) ? earlyRetries(own, observations) : { earlyProbes: 0, earlyAdmitted: 0 };
  return {
    reason: first.what,
    dialect: first.dialect,
    stream: first.stream,
    denials: own.length,
    present: own.filter(({ retryAfter }) => retryAfter !== undefined).length,
    usable: own.filter(({ retryAfterWaitMs }) => retryAfterWaitMs !== undefined).length,
    sufficient: of("sufficient"),
    insufficient: of("insufficient"),
    contended: of("contended"),
    ...probes,
    retryAfterWaitMs: requested.quantilesMs(),
    actualMs: actual.quantilesMs(),
  };
}

/** All tested waits, and an even selection of the untested denials. */
function samplesOf(
  denied: readonly Observation[],
  waits: readonly RetryAfterWait[],
  originUs: number,
): RetryAfterFigures["samples"] {
  const tested = new Map(waits.map((one) => [one.denial, one]));
  const others = denied.filter((one) => !tested.has(one));
  const step = Math.max(1, Math.ceil(others.length / (MAX_SAMPLES / 2)));
  const chosen = [...[...tested.keys()].slice(0, MAX_SAMPLES / 2), ...others.filter((_, index) => index % step === 0)];
  return chosen.map((denial) => {
    const wait = tested.get(denial);
    const outcome = wait?.outcome ?? "untested";
    return {
      phase: denial.phase,
      atS: (denial.endUs - originUs) / 1_000_000,
      reason: denial.what,
      dialect: denial.dialect,
      stream: denial.stream,
      ...(denial.retryAfter === undefined ? {} : { header: denial.retryAfter }),
      retryAfterWaitMs: denial.retryAfterWaitMs ?? null,
      actualMs: wait?.actualMs ?? null,
      outcome,
    };
  });
}

function fleetFigures(
  fleet: ClientsOutcome<Observation>,
  { fleetStartUs, fleetEndUs }: RecoveryScript,
): RetryAfterFigures["fleet"] {
  const attempts = fleet.attempts.reduce((sum, own) => sum + own.length, 0);
  return {
    clients: fleet.attempts.length,
    recovered: fleet.served,
    recoveryS: fleet.served === fleet.attempts.length ? (fleetEndUs - fleetStartUs) / 1_000_000 : null,
    attempts,
    herdShare: herdShare(fleet),
  };
}
