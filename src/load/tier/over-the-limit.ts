import type { LoadFinding } from "../../record/index.ts";
import { nowUs } from "../http/load-exchange.ts";
import { claim, fact } from "../phase-record.ts";
import { evenly } from "./at-the-limit.ts";
import { type Fact, isAdmitted, isRateDenial, samplesOf } from "./facts.ts";
import { keepPromise, type Promise_ } from "./promises.ts";
import type { Ask, TierBench } from "./tier-bench.ts";

/** Even traffic, in multiples of the rate. */
const EVEN = 2;
/** Beside it, every so often, many at once: a limiter that looks before it counts lets them all in. */
const PULSE_EVERY_S = 10;
export const pulseOf = (slots: number): number => Math.max(4, Math.floor(slots * 0.6));
/** A minute of overload is measured; a little more, so that its ends can be chosen. */
const MEASURED_S = 62;
/** Three pulses with a whole minute before each. */
const THOROUGH_S = 86;
/** What counting by the minute may be off: clocks and networks are not exact. */
const TOLERANCE = 0.02;
/** Most requests until the first denial: twice the limit is more than any window lets through. */
const EXHAUST_AT_ONCE = 0.5;

export function overSeconds(thorough: boolean): number {
  return thorough ? THOROUGH_S : MEASURED_S;
}

/** What the phase may send at most. */
export function overRequests(rpm: number, slots: number, thorough: boolean): number {
  const seconds = overSeconds(thorough);
  return Math.ceil(rpm * 1.2 + seconds * ((rpm / 60) * EVEN) + Math.ceil(seconds / PULSE_EVERY_S) * pulseOf(slots));
}

export interface OverScript {
  readonly promises: Promise_[];
  /** When the even overload began, µs. */
  startUs: number;
}

/**
 * Exhausts the rate at once, tests the promise of a denial with nothing else under way, then overloads evenly for a
 * minute with pulses.
 *
 * @param longestWaitMs a promise that asks for more is not waited for.
 */
export async function overTheLimit(
  bench: TierBench,
  script: OverScript,
  options: { thorough: boolean; longestWaitMs: number },
): Promise<void> {
  const kinds = bench.kinds("echo");
  const pick = (index: number) => kinds[index % kinds.length] as Ask;
  const denial = await exhaust(bench, pick);
  if (denial !== undefined) {
    const kept = await keepPromise(bench, denial, pick(0), options.longestWaitMs);
    script.promises.push(kept);
  }
  if (bench.stopped) return;
  const seconds = overSeconds(options.thorough);
  script.startUs = nowUs();
  const pulses = pulsing(bench, pick, seconds);
  const rate = bench.ratePerS * EVEN;
  await evenly(bench, Math.ceil(rate * seconds), rate, (index, dueUs) => bench.send(pick(index), "even", dueUs));
  await pulses;
}

/** As many at once as slots allow, until one is denied for the rate. @returns that denial. */
async function exhaust(bench: TierBench, pick: (index: number) => Ask): Promise<Fact | undefined> {
  const atOnce = Math.max(1, Math.floor(bench.limits.inFlight * EXHAUST_AT_ONCE));
  for (let sent = 0; sent < bench.limits.rpm * 1.2 && !bench.stopped; sent += atOnce) {
    const answers = await Promise.all(Array.from({ length: atOnce }, (_, index) => bench.send(pick(index), "exhaust")));
    if (!answers.some((answer) => answer !== undefined && isRateDenial(answer))) continue;
    // The last word counts: a denial of the burst may be older than an admission of it.
    const last = await bench.send(pick(0), "promise");
    return last !== undefined && isRateDenial(last)
      ? last
      : answers.find((answer) => answer !== undefined && isRateDenial(answer));
  }
  return undefined;
}

async function pulsing(bench: TierBench, pick: (index: number) => Ask, seconds: number): Promise<void> {
  const startUs = nowUs();
  const sent: Promise<Fact | undefined>[] = [];
  for (let atS = PULSE_EVERY_S / 2; atS < seconds - 1; atS += PULSE_EVERY_S) {
    if (!(await bench.wait(atS * 1_000 - (nowUs() - startUs) / 1_000))) break;
    const dueUs = nowUs();
    for (let index = 0; index < pulseOf(bench.limits.inFlight); index++)
      sent.push(bench.send(pick(index), "pulse", dueUs));
  }
  await Promise.all(sent);
}

export function judgeOverTheLimit(facts: readonly Fact[], rpm: number, { startUs }: OverScript): LoadFinding[] {
  const denied = facts.filter(isRateDenial);
  const findings: LoadFinding[] = [
    claim(
      "rate.not-enforced",
      "Sending faster than the limit is denied",
      ["LIMIT-RATE-1"],
      denied.length > 0,
      "at least one denial",
      `${denied.length} of ${facts.length} denied`,
    ),
  ];
  const loaded = facts.filter(({ dueUs, role }) => dueUs >= startUs && (role === "even" || role === "pulse"));
  const admitted = loaded
    .filter(isAdmitted)
    .map(({ sentUs }) => sentUs)
    .sort((a, b) => a - b);
  const lastUs = Math.max(...loaded.map(({ sentUs }) => sentUs));
  if (startUs === 0 || lastUs - startUs < 60_000_000) {
    findings.push(
      fact(
        "rate.measured",
        "Admitted in a minute of overload",
        ["LIMIT-RATE-2"],
        "the overload was shorter than a minute",
      ),
    );
    return findings;
  }
  const inMinuteUntil = (endUs: number) => admitted.filter((atUs) => atUs > endUs - 60_000_000 && atUs <= endUs).length;
  // Every minute inside the overload, by half seconds: one that holds too many may straddle the edge of a window.
  const ends: number[] = [];
  for (let endUs = startUs + 60_000_000; endUs <= lastUs; endUs += 500_000) ends.push(endUs);
  const counts = ends.map(inMinuteUntil);
  const least = Math.min(...counts);
  const most = Math.max(...counts);
  const bound = Math.ceil(rpm * (1 + TOLERANCE)) + 2;
  findings.push(
    claim(
      "rate.exceeded",
      "No more than the limit is admitted in a minute of overload",
      ["LIMIT-RATE-2"],
      least <= bound,
      `at most ${bound}`,
      `${least} to ${most} admitted in any minute of it`,
      { exchanges: samplesOf(loaded.filter(isAdmitted)) },
    ),
  );
  const pulses = [...new Set(loaded.filter(({ role }) => role === "pulse").map(({ dueUs }) => dueUs))].filter(
    (dueUs) => dueUs + 1_000_000 >= startUs + 60_000_000,
  );
  if (pulses.length >= 3) {
    const after = pulses.map((dueUs) => inMinuteUntil(dueUs + 1_000_000));
    findings.push(
      claim(
        "rate.race",
        "Many at once are counted one by one",
        ["LIMIT-RATE-2"],
        after.filter((count) => count > bound).length < 2,
        `at most ${bound} in the minute before each pulse's end`,
        `${after.join(", ")} admitted`,
      ),
    );
  }
  const short = least < Math.floor(rpm * (1 - TOLERANCE)) - 2;
  // A gateway may count denied requests (LIMIT-RATE-8 is open): what it lets through under overload is then less.
  findings.push(
    short
      ? fact(
          "rate.measured",
          "Admitted in a minute of overload",
          ["LIMIT-RATE-8"],
          `${least} to ${most}, less than the limit of ${rpm}: denied requests may count`,
        )
      : fact(
          "rate.measured",
          "Admitted in a minute of overload",
          ["LIMIT-RATE-8"],
          `${least} to ${most}, limit ${rpm}`,
        ),
  );
  return findings;
}
