import type { LoadFinding } from "../../record/index.ts";
import { nowUs } from "../http/load-exchange.ts";
import { claim, fact } from "../phase-record.ts";
import { type Fact, isRateDenial, isSlotDenial, samplesOf } from "./facts.ts";
import type { Ask, TierBench } from "./tier-bench.ts";

/** Share of the rate that is sent: what is left is for the jitter of networks, which even a strict limiter must bear. */
export const SHARE = 0.94;
/** Closer arrivals than the rate's interval by more than this may be denied by a limiter that wants them even, µs. */
const JITTER_US = 1_000;
/** What was sent before the run, by others or by us, may count against its first minute, and a little longer. */
export const UNKNOWN_MS = 61_000;
/** Role of what is sent once more, when nothing but this run's own traffic can count any longer. */
const AGAIN = "even-again";

/**
 * Sends evenly just below the rate. Denials of the run's first minute may be owed to traffic before it: they are waited
 * out, and the same is sent once more.
 *
 * @param count requests that a minute's limit still allows.
 */
export async function atTheLimit(bench: TierBench, count: number): Promise<void> {
  const kinds = bench.kinds("echo");
  const send = (role: string) =>
    evenly(bench, count, bench.ratePerS * SHARE, (index) => bench.send(kinds[index % kinds.length] as Ask, role));
  await send("even");
  const knownUs = knownFromUs(bench.facts);
  if (!bench.facts.some((one) => one.role === "even" && isRateDenial(one) && one.sentUs < knownUs)) return;
  if (await bench.wait(UNKNOWN_MS)) await send(AGAIN);
}

/** From when on nothing but a run's own traffic can count. @param all every fact of the run so far. */
function knownFromUs(all: readonly Fact[]): number {
  return all.reduce((first, { sentUs }) => Math.min(first, sentUs), Number.POSITIVE_INFINITY) + UNKNOWN_MS * 1_000;
}

/** Sends on a schedule that is fixed before; a late send stays due when it was. */
export async function evenly(
  bench: TierBench,
  count: number,
  ratePerS: number,
  send: (index: number, dueUs: number) => Promise<Fact | undefined>,
): Promise<void> {
  const startUs = nowUs();
  const sent: Promise<Fact | undefined>[] = [];
  for (let index = 0; index < count; index++) {
    const dueUs = startUs + (index * 1_000_000) / ratePerS;
    const waitMs = (dueUs - nowUs()) / 1_000;
    if (waitMs > 0.5 && !(await bench.wait(waitMs))) break;
    sent.push(send(index, dueUs));
  }
  await Promise.all(sent);
}

/** @param all every fact of the run so far, for what was sent before. */
export function judgeAtTheLimit(facts: readonly Fact[], all: readonly Fact[], rpm: number): LoadFinding[] {
  const own = facts.map(({ sentUs }) => sentUs).sort((x, y) => x - y);
  const denied = facts.filter(isRateDenial);
  const unexplained = denied.filter(({ sentUs }) => {
    const lastMinute = all.filter((other) => other.sentUs <= sentUs && other.sentUs > sentUs - 60_000_000).length;
    return lastMinute <= rpm && !tooClose(own, sentUs, rpm);
  });
  const knownUs = knownFromUs(all);
  const early = unexplained.filter(({ sentUs }) => sentUs < knownUs);
  const late = unexplained.length - early.length;
  const slots = facts.filter(isSlotDenial);
  const title = "Traffic below the limit is not denied for its rate";
  const told = `${denied.length} of ${facts.length} denied for the rate, ${late} of them below it`;
  const undecided = early.length > 0 && late === 0 && !facts.some(({ role }) => role === AGAIN);
  return [
    undecided
      ? fact(
          "rate.denied-below-limit",
          title,
          ["LIMIT-RATE-3"],
          `not decided: ${early.length} of ${facts.length} denied in the run's first minute, in which traffic before it may count`,
        )
      : claim("rate.denied-below-limit", title, ["LIMIT-RATE-3"], late === 0, "0 denied", told, {
          exchanges: samplesOf(unexplained),
        }),
    claim(
      "slots.denied-below-limit",
      "Few requests in flight are not denied for their number",
      ["LIMIT-CONC-2", "LIMIT-CONC-4"],
      slots.length === 0,
      "0 denied",
      `${slots.length} of ${facts.length} denied for concurrency`,
      { exchanges: samplesOf(slots) },
    ),
  ];
}

/**
 * Whether a limiter that wants requests evenly may deny this one: with some of those before it, it came closer than the
 * rate's interval. What was sent before the phase does not count: who let it in had room for it.
 */
function tooClose(sends: readonly number[], atUs: number, rpm: number): boolean {
  const intervalUs = 60_000_000 / rpm;
  let back = 1;
  for (let index = lastBefore(sends, atUs); index >= 0; index--, back++) {
    if (atUs - (sends[index] as number) < back * intervalUs - JITTER_US) return true;
  }
  return false;
}

function lastBefore(sends: readonly number[], atUs: number): number {
  let low = 0;
  let high = sends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sends[middle] as number) < atUs) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
