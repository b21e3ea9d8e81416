import type { LoadFinding } from "../../record/index.ts";
import { nowUs } from "../http/load-exchange.ts";
import { claim, fact } from "../phase-record.ts";
import { type Fact, isAdmitted, isRateDenial, isSlotDenial, LEFT, samplesOf } from "./facts.ts";
import { admittedBeside, mostPossibly, mostSurely } from "./overlap.ts";
import type { Ask, TierBench } from "./tier-bench.ts";

/** A slot may be freed a moment after the last byte was read, ms. */
export const SETTLE_MS = 300;
/** Requests beyond the limit in the wave: enough that each kind of counter shows. */
export const extraOf = (slots: number): number => Math.min(25, Math.max(4, Math.ceil(slots * 0.05)));
/** Slots that hold streams while others are busy beside them: a quarter, or a dozen where there are few. */
const besideOf = (slots: number): number => Math.max(Math.ceil(slots / 4), Math.min(12, Math.floor(slots / 2)));
/** Each denial may harm another of those that run, so some come one after the other. */
const KNOCK_ROUNDS = 2;
/** When somebody knocks once more, as a share of the time of a stream. */
const LATE_SHARE = 0.75;
/** Streams that are left in the middle, and time for a gateway to notice, ms. */
const LEAVING = 4;
const LEFT_SETTLE_MS = 1_200;
/** Short requests beside them, at once; four kinds. */
const BUSY = 16;
const BUSY_ROUNDS = 2;

/** What the phase may send at most. */
export function fullHouseRequests(slots: number): number {
  return slots + extraOf(slots) + 8 * (KNOCK_ROUNDS + 1) + besideOf(slots) + BUSY * BUSY_ROUNDS + LEAVING + 4 + slots;
}

/** Streams up to the limit and beyond, all at once; others knock while every slot is held. */
export async function fullHouse(bench: TierBench): Promise<void> {
  const slots = bench.limits.inFlight;
  const startUs = nowUs();
  const house = wave(bench, slots + extraOf(slots), "wave");
  // The house is full when the last of the wave was answered or refused and the first has not ended.
  await settledHeads(bench, house);
  const knocks = knock(bench, KNOCK_ROUNDS);
  // Late in their life, too: a slot may be given back while its stream goes on.
  const late = bench
    .wait(Math.max(0, bench.long.durationMs * LATE_SHARE - (nowUs() - startUs) / 1_000))
    .then(() => knock(bench, 1));
  await Promise.all([...house, knocks, late]);
  await bench.wait(SETTLE_MS);
}

/** Short requests run beside streams; then a wave of exactly the limit, which a leaked slot would not let in. */
export async function freedSlots(bench: TierBench): Promise<void> {
  const slots = bench.limits.inFlight;
  const beside = wave(bench, besideOf(slots), "beside");
  await bench.wait(Math.min(400, bench.long.durationMs / 4));
  for (let round = 0; round < BUSY_ROUNDS; round++) {
    const kinds = bench.kinds("echo");
    const count = Math.min(BUSY, Math.max(4, Math.floor(slots / 2)));
    await Promise.all(
      Array.from({ length: count }, (_, index) => bench.send(kinds[index % kinds.length] as Ask, "busy")),
    );
  }
  await Promise.all(beside);
  await leaveSome(bench);
  await bench.wait(SETTLE_MS);
  if (bench.stopped) return;
  await Promise.all(wave(bench, slots, "again"));
  await bench.wait(SETTLE_MS);
}

/** Some clients leave in the middle; who comes next must get an answer of its own. */
async function leaveSome(bench: TierBench): Promise<void> {
  const left = wave(bench, LEAVING, LEFT);
  await bench.wait(Math.min(300, bench.long.durationMs / 3));
  bench.sender.abortAll();
  await Promise.all(left);
  // Long enough for the gateway to see that they left.
  await bench.wait(150);
  await Promise.all(bench.kinds("echo").map((ask) => bench.send(ask, "busy")));
  await bench.wait(LEFT_SETTLE_MS);
}

export function wave(bench: TierBench, count: number, role: string): Promise<Fact | undefined>[] {
  const asks = bench.longStreams();
  return Array.from({ length: count }, (_, index) => bench.send(asks[index % asks.length] as Ask, role));
}

/** Waits until most of the house can be expected to have been decided upon: refusals come at once, heads soon. */
async function settledHeads(bench: TierBench, house: readonly Promise<Fact | undefined>[]): Promise<void> {
  const first = Promise.race(house);
  await Promise.race([first.then(() => bench.wait(100)), bench.wait(Math.max(200, bench.long.durationMs * 0.35))]);
}

/** One request of every kind with each key, while the house is full. */
async function knock(bench: TierBench, rounds: number): Promise<void> {
  const asks = [0, 1].slice(0, bench.keys.length).flatMap((key) => bench.kinds("echo").map((ask) => ({ ...ask, key })));
  for (let round = 0; round < rounds; round++) {
    await Promise.all(asks.map((ask) => bench.send(ask, "knock")));
    await bench.wait(50);
  }
}

/** @param all every fact of the run so far: what came before may still have held a slot. */
export function judgeFullHouse(facts: readonly Fact[], all: readonly Fact[], slots: number): LoadFinding[] {
  const house = facts.filter(({ role }) => role === "wave");
  const knocks = facts.filter(({ role }) => role === "knock");
  const admitted = house.filter(isAdmitted);
  const rate = facts.filter(isRateDenial);
  const denied = facts.filter(isSlotDenial);
  const surely = mostSurely(facts);
  const beside = admittedBeside(facts, slots);
  const counted = `${admitted.length} of ${house.length} at once and ${knocks.filter(isAdmitted).length} of ${knocks.length} knocking were admitted, ${surely} surely ran together`;
  // Running together is measured: that more than the limit did cannot be explained otherwise.
  const exceeded = claim(
    "slots.exceeded",
    "No more requests run together than the limit",
    ["LIMIT-CONC-2"],
    surely <= slots && beside.length === 0,
    `at most ${slots}`,
    `${counted}, ${beside.length} were let in beside a full house`,
    { exchanges: samplesOf([...beside, ...admitted]) },
  );
  if (denied.length === 0 && rate.length > 0) {
    const why = `the rate came first: ${rate.length} of ${facts.length} denied for it. Longer streams would fill the house`;
    const unreached = fact("slots.unreached", "The house is filled", ["LIMIT-CONC-1"], why);
    return surely > slots || beside.length > 0 ? [exceeded, unreached] : [unreached];
  }
  const early = denied.filter((denial) => mostPossibly(denial, all, SETTLE_MS) < slots);
  return [
    exceeded,
    claim(
      "slots.denied-early",
      "Nobody is denied while a slot is free",
      ["LIMIT-CONC-2"],
      early.length === 0,
      "0 denied",
      `${early.length} denied with fewer than ${slots} possibly running; ${counted}`,
      { exchanges: samplesOf(early) },
    ),
    ...(mostHeld(house) >= slots
      ? [
          claim(
            "slots.not-enforced",
            "More requests in flight than the limit are denied",
            ["LIMIT-CONC-1"],
            denied.length > 0,
            "at least one denial",
            `${denied.length} of ${facts.length} denied for concurrency`,
          ),
        ]
      : []),
  ];
}

/** Whether the house was ever full at all: with short streams it is not, and nothing needs to be denied. */
function mostHeld(house: readonly Fact[]): number {
  return mostSurely(house);
}

export function judgeFreedSlots(facts: readonly Fact[], all: readonly Fact[], slots: number): LoadFinding[] {
  const leaked = facts.filter((one) => isSlotDenial(one) && mostPossibly(one, all, SETTLE_MS) < slots);
  const rate = facts.filter(isRateDenial);
  if (rate.length > 0 && leaked.length === 0) {
    const why = `not decided: ${rate.length} of ${facts.length} denied for the rate`;
    return [fact("slots.leaked", "What has ended gives its slot back", ["LIMIT-CONC-4"], why)];
  }
  const told = `${leaked.length} of ${facts.length} denied with fewer than ${slots} possibly running`;
  return [
    claim(
      "slots.leaked",
      "What has ended gives its slot back",
      ["LIMIT-CONC-4"],
      leaked.length === 0,
      "0 denied",
      told,
      { exchanges: samplesOf(leaked) },
    ),
  ];
}
