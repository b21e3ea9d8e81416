import { inferRate, type RateFindings } from "./infer-rate.ts";
import type { Instrument } from "./instrument.ts";
import type { AskKind, Trial } from "./trial.ts";

export interface RatePlan {
  /** Requests per minute that the operator says; only saves requests, decides nothing. */
  readonly hintPerMinute: number | undefined;
  /** Requests under way at once in a burst. */
  readonly parallel: number;
  /** The minute of "requests per minute", ms; 60,000 outside tests. */
  readonly minuteMs: number;
}

/** Share of a hinted limit in the opening: the rest follows a quarter of a minute later, so that windows show. */
const OPENING_SHARE = 0.4;
const OPENING = 40;
/** Requests admitted one by one from which a refill is known well enough. */
const REFILLED = 150;
/** One denial in so many is followed by a request of another kind. */
const EVERY = 3;
const GOLDEN = 0.618_034;
/** Listings before a burst: as a share of what the burst may let through, so that they show in it. */
const LISTING_SHARE = 0.1;

/**
 * Overloads one account in a way that each kind of limiter answers differently: a part of the limit, a rest, all of the
 * rest up to the first denial; then what comes back, when, and how much of it.
 */
export async function rateExperiment(instrument: Instrument, plan: RatePlan): Promise<RateFindings> {
  const { minuteMs } = plan;
  const { hintPerMinute } = plan;
  const opening = Math.max(8, Math.round(hintPerMinute === undefined ? OPENING : hintPerMinute * OPENING_SHARE));
  const denied = await burst(instrument, opening, plan.parallel);
  if (!denied) {
    await instrument.wait(minuteMs / 4);
    await burst(instrument, Number.POSITIVE_INFINITY, plan.parallel);
  }
  const intervalMs = await texture(instrument, plan);
  if (intervalMs === undefined) await silent(instrument, plan);
  else await refilling(instrument, plan, intervalMs);
  return settled(instrument, plan);
}

function settled({ trials, slackUs, wallOffsetUs }: Instrument, { minuteMs }: RatePlan): RateFindings {
  return inferRate(trials, { slackUs, wallOffsetUs, minuteUs: minuteMs * 1_000 });
}

/** Sends as fast as it is answered. @returns whether something was denied for the rate. */
async function burst(instrument: Instrument, most: number, parallel: number): Promise<boolean> {
  let sent = 0;
  let denied = false;
  let slots = 0;
  const worker = async () => {
    while (!denied && sent < most) {
      sent++;
      const trial = await instrument.ask("main");
      if (trial === undefined) return;
      if (trial.verdict === "rate") denied = true;
      if (trial.verdict === "slot" || trial.verdict === "failed") {
        // Not what this is about: less at once, a little later.
        slots++;
        if (slots > 50 || !(await instrument.wait(50))) return;
        if (slots > 3) return sequential();
      }
    }
  };
  let alone = false;
  const sequential = async () => {
    if (alone) return;
    alone = true;
    await worker();
  };
  await Promise.all(Array.from({ length: Math.min(parallel, most) }, worker));
  return denied;
}

/**
 * Looks for a few seconds whether single requests get through between denials, as they do where the limit refills evenly.
 *
 * @returns about how long one takes to come back, ms; `undefined` when nothing came back by itself.
 */
async function texture(instrument: Instrument, { minuteMs, hintPerMinute }: RatePlan): Promise<number | undefined> {
  const hintedMs = minuteMs / (hintPerMinute ?? 600);
  const spacingMs = Math.min(Math.max(hintedMs / 3, minuteMs / 3_000), minuteMs / 120);
  const lengthMs = Math.max(minuteMs / 15, hintedMs * 4.5);
  const seen = await probe(instrument, ["main"], spacingMs, lengthMs, () => false);
  const back = returns(seen);
  if (back.length < 3) return undefined;
  const spanMs = ((back.at(-1) as number) - (back[0] as number)) / 1_000;
  return spanMs / (back.length - 1);
}

/** Moments at which something was admitted after a denial. */
function returns(trials: readonly Trial[]): number[] {
  return trials.flatMap((trial, index) =>
    trial.verdict === "admitted" && trials[index - 1]?.verdict === "rate" ? [trial.atUs] : [],
  );
}

/** One request at a time, evenly. The others than main are asked right after a denial, where they decide something. */
async function probe(
  instrument: Instrument,
  kinds: readonly AskKind[],
  spacingMs: number,
  lengthMs: number,
  enough: (seen: readonly Trial[]) => boolean,
): Promise<Trial[]> {
  const seen: Trial[] = [];
  const others = kinds.filter((kind) => kind !== "main");
  const startUs = instrument.nowUs();
  let turn = 0;
  let denials = 0;
  // Uneven steps: a pace that is a multiple of the limiter's would always meet it in the same state.
  for (let step = 1, dueMs = spacingMs; (instrument.nowUs() - startUs) / 1_000 < lengthMs; step++) {
    const trial = await instrument.ask("main");
    if (trial === undefined) break;
    seen.push(trial);
    if (enough(seen)) break;
    if (trial.verdict === "rate" && others.length > 0 && ++denials % EVERY === 0) {
      if ((await instrument.ask(others[turn++ % others.length] as AskKind)) === undefined) break;
      // The second denial of the main kind, which makes the one in between a statement.
      const after = await instrument.ask("main");
      if (after === undefined) break;
      seen.push(after);
    }
    const waitMs = dueMs - (instrument.nowUs() - startUs) / 1_000;
    dueMs += spacingMs * (0.5 + ((step * GOLDEN) % 1));
    if (waitMs > 0 && !(await instrument.wait(waitMs))) break;
  }
  return seen;
}

/** An even refill: its pace, who shares it, and what is saved up during a rest. */
async function refilling(instrument: Instrument, plan: RatePlan, intervalMs: number): Promise<void> {
  const { minuteMs } = plan;
  const spacingMs = Math.min(intervalMs / 3, minuteMs / 2_000);
  const admitted = (seen: readonly Trial[]) => seen.filter(({ verdict }) => verdict === "admitted").length;
  const enough = (seen: readonly Trial[]) => admitted(seen) >= REFILLED;
  await probe(instrument, ["main", ...instrument.kinds], spacingMs, minuteMs * 0.75, enough);
  await instrument.wait(Math.max(minuteMs / 6, intervalMs * 4));
  const expected = minuteMs / 6 / intervalMs;
  await listings(instrument, Math.ceil(expected * LISTING_SHARE));
  await burst(instrument, Number.POSITIVE_INFINITY, plan.parallel);
  for (let round = 0; round < 3; round++) {
    // Where hardly anything is saved up, a listing in between is all that shows.
    await instrument.wait(intervalMs * 3);
    await listings(instrument, 2);
    await burst(instrument, Number.POSITIVE_INFINITY, plan.parallel);
  }
}

/** Windows: waits for what comes back, and takes it at once. */
async function silent(instrument: Instrument, plan: RatePlan): Promise<void> {
  const { minuteMs } = plan;
  const spacingMs = minuteMs / 300;
  const back = (seen: readonly Trial[]) => seen.at(-1)?.verdict === "admitted";
  const kinds: AskKind[] = ["main", ...instrument.kinds];
  for (let round = 0; round < 3; round++) {
    const before = instrument.trials.filter(({ verdict }) => verdict === "admitted").length;
    const seen = await probe(instrument, kinds, spacingMs, minuteMs * 1.1, back);
    if (!back(seen)) {
      // Where denied requests count, asking keeps the window full: a rest shows it.
      if (!(await instrument.wait(minuteMs * 1.02))) return;
    }
    await listings(instrument, Math.max(6, Math.min(60, Math.round(before * LISTING_SHARE))));
    await burst(instrument, Number.POSITIVE_INFINITY, plan.parallel);
    // A few denials after the burst: the end of it is a statement, too.
    await probe(instrument, kinds, spacingMs, spacingMs * 12, () => false);
    const { kind, deniedCount, scopes } = settled(instrument, plan);
    // A window that ended soon after its last burst left no time to ask the others between denials.
    const asked = Object.entries(scopes).every(
      ([name, { answer }]) => answer !== null || !kinds.includes(name as AskKind),
    );
    if (kind.confidence === "high" && deniedCount.answer !== null && asked) return;
    if (instrument.left.requests <= 0) return;
  }
}

async function listings(instrument: Instrument, count: number): Promise<void> {
  if (!instrument.kinds.includes("listing")) return;
  for (let sent = 0; sent < count; sent++) if ((await instrument.ask("listing")) === undefined) return;
}
