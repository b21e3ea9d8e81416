import type { Shot } from "../../http/load-exchange.ts";
import type { RateFindings } from "./infer-rate.ts";
import { type HeldSlot, inferInFlight, inferRelease, type Release, type SlotFindings } from "./infer-slots.ts";
import type { Instrument } from "./instrument.ts";
import type { Trial } from "./trial.ts";

/** A long request while it runs. Microseconds; 0 for what has not happened yet. */
export interface Hold {
  readonly sentUs: number;
  readonly headUs: number;
  readonly endUs: number;
  /** `undefined` while nothing is known. */
  verdict(): Trial["verdict"] | undefined;
  /** Whether it was denied with a 429 that names no limit. */
  readonly unnamed?: boolean;
  leave(): void;
}

export interface SlotInstrument extends Instrument {
  /** Opens connections ahead: a handshake is no part of what is measured. */
  open(count: number): Promise<string | undefined>;
  hold(shot: Shot): Hold | undefined;
}

export interface SlotPlan {
  readonly rate: RateFindings;
  /** Streams to try, shorter ones first. */
  readonly shots: readonly Shot[];
  /** In flight, as the operator says; only saves requests. */
  readonly hint: number | undefined;
  /** 60,000 outside tests. */
  readonly minuteMs: number;
  /** Connections there are. */
  readonly most: number;
}

/** How long heads are waited for before more streams are added, ms: denials come at once. */
const HEADS_MS = 60;
const KNOCK_MS = 20;
/** Failed attempts in a row from which it is no accident. */
const MOST_FAILURES = 5;
/** Streams that are left at once, so that one of them surely still runs. */
const LEAVING = 3;
/** Requests that try to get in while the limit is reached. */
const KNOCKS = 40;

interface Filled {
  readonly holds: readonly Hold[];
  readonly full: boolean;
  /** Whether a 429 that names no limit is for want of a slot here. */
  readonly unnamed: boolean;
}

/** Denials without a name in a row, each when the rate surely had room again, after which they are for want of a slot. */
const UNNAMED_IN_A_ROW = 3;
/** Of the rate's interval: nothing is denied for the rate after so long. */
const SURELY_ROOM = 1.3;

/** Fills every slot with streams and tries to get in beside them: while all run, after one ended, after one was left. */
export async function slotsExperiment(instrument: SlotInstrument, plan: SlotPlan): Promise<SlotFindings> {
  const needed = (plan.hint ?? 64) + KNOCKS;
  await room(instrument, plan, needed);
  let best: Filled = { holds: [], full: false, unnamed: false };
  let shot = plan.shots[0];
  for (shot of plan.shots) {
    const filled = await fill(instrument, plan, shot, plan.most);
    if (filled.full || admittedOf(filled) > admittedOf(best)) best = filled;
    if (filled.full) break;
    await emptied(instrument, filled);
    await room(instrument, plan, needed);
  }
  const found = inferInFlight(slotsOf(best));
  if (!best.full || shot === undefined) return { ...found, ...inferRelease(undefined, undefined) };
  const end = await tryUntilAdmitted(instrument, plan, best, "end");
  await emptied(instrument, best);
  await room(instrument, plan, best.holds.length + KNOCKS);
  const again = await fill(instrument, plan, shot, best.holds.length);
  const leave = again.full ? await tryUntilAdmitted(instrument, plan, again, "leave") : undefined;
  for (const hold of again.holds) hold.leave();
  return { ...inferInFlight(slotsOf(best)), ...inferRelease(end, leave) };
}

function slotsOf({ holds, unnamed }: Filled): HeldSlot[] {
  return holds.map((hold) => ({
    sentUs: hold.sentUs,
    headUs: hold.headUs,
    endUs: hold.endUs,
    verdict: unnamed && hold.unnamed === true ? "slot" : hold.verdict(),
  }));
}

const admittedOf = ({ holds }: Filled): number => holds.filter((hold) => hold.verdict() === "admitted").length;

/** Waits until the rate lets so many through, as far as it is known. */
async function room(instrument: Instrument, { rate, minuteMs }: SlotPlan, needed: number): Promise<void> {
  const { answer } = rate.perMinute;
  if (answer === null || rate.windowS !== null || rate.kind.answer === null) {
    await instrument.wait(minuteMs * 1.02);
    return;
  }
  // What comes back evenly: as much as is needed, or all that can be saved up.
  await instrument.wait((Math.min(needed, rate.burst.answer ?? needed) / answer) * minuteMs);
}

/** Adds streams until one is denied for concurrency, as long as none has ended. */
async function fill(instrument: SlotInstrument, plan: SlotPlan, shot: Shot, most: number): Promise<Filled> {
  const holds: Hold[] = [];
  // Opened now: a server may close what was opened long ago and never used.
  await instrument.open(Math.min(most, (plan.hint ?? 32) + 8));
  let failures = 0;
  let unnamed = 0;
  const { answer } = plan.rate.perMinute;
  const intervalMs = answer === null ? 100 : plan.minuteMs / answer;
  let atOnce = Math.max(2, Math.ceil((plan.hint ?? 32) / 8));
  const running = () => holds.filter((hold) => hold.verdict() === "admitted" && hold.endUs === 0).length;
  const ended = () => holds.some((hold) => hold.endUs !== 0 && hold.verdict() === "admitted");
  while (running() < most && !ended()) {
    const added = Array.from({ length: Math.min(atOnce, most) }, () => instrument.hold(shot)).filter(
      (hold) => hold !== undefined,
    );
    if (added.length === 0) break;
    holds.push(...added);
    const sinceUs = instrument.nowUs();
    while (added.some((hold) => hold.verdict() === undefined) && instrument.nowUs() - sinceUs < HEADS_MS * 1_000) {
      if (!(await instrument.wait(2))) return { holds, full: false, unnamed: false };
    }
    const verdicts = added.map((hold) => hold.verdict());
    if (verdicts.includes("slot")) return { holds, full: !ended(), unnamed: false };
    if (verdicts.includes("rate")) {
      atOnce = 1;
      const nameless = added.every((hold) => hold.unnamed === true);
      unnamed = nameless ? unnamed + 1 : 0;
      if (unnamed >= UNNAMED_IN_A_ROW) return { holds, full: !ended(), unnamed: true };
      // Asked again soon: what an even pace has let pass by it does not give back.
      if (!(await instrument.wait(nameless ? intervalMs * SURELY_ROOM : intervalMs / 4))) break;
    }
    failures = verdicts.every((verdict) => verdict === "failed") ? failures + 1 : 0;
    if (failures > MOST_FAILURES) break;
  }
  return { holds, full: false, unnamed: false };
}

/** Sends while the limit is reached until one is admitted: after the first stream ended, or after one was left. */
async function tryUntilAdmitted(
  instrument: SlotInstrument,
  { rate, minuteMs }: SlotPlan,
  { holds, unnamed }: Filled,
  on: "end" | "leave",
): Promise<Release | undefined> {
  const steady = rate.windowS === null && rate.perMinute.answer !== null;
  const spacingMs = steady ? Math.max(KNOCK_MS, (minuteMs / (rate.perMinute.answer ?? 1)) * 1.05) : KNOCK_MS;
  const admitted = holds.filter((hold) => hold.verdict() === "admitted");
  let refused = 0;
  let refusedUs = 0;
  const isSlot = (trial: Trial) => trial.verdict === "slot" || (unnamed && trial.unnamed === true);
  const atDoor = await instrument.ask("main");
  if (atDoor !== undefined && isSlot(atDoor)) refused++;
  if (atDoor?.verdict === "admitted") return undefined;
  const leftUs = instrument.nowUs();
  const left = on === "leave" ? admitted.slice(-LEAVING) : [];
  for (const hold of left) hold.leave();
  const natural = () => admitted.filter((hold) => !left.includes(hold) && hold.endUs !== 0).map(({ endUs }) => endUs);
  const begunUs = instrument.nowUs();
  const triedMs = () => (instrument.nowUs() - begunUs) / 1_000;
  for (;;) {
    const ends = natural();
    if (on === "leave" && ends.length > 0)
      return { afterMs: undefined, refused, refusedUntilMs: triedMs(), triedMs: triedMs(), spacingMs };
    const tried = await instrument.ask("main");
    if (tried === undefined) return undefined;
    if (isSlot(tried)) {
      refused++;
      refusedUs = tried.atUs;
    }
    if (tried.verdict === "admitted") {
      const now = natural();
      if (on === "end" && now.length === 0) return undefined;
      if (on === "leave" && now.some((endUs) => endUs <= tried.atUs)) {
        return { afterMs: undefined, refused, refusedUntilMs: triedMs(), triedMs: triedMs(), spacingMs };
      }
      const freeUs = on === "leave" ? leftUs : Math.min(...now);
      return {
        afterMs: Math.max(0, (tried.atUs - freeUs) / 1_000),
        refused,
        refusedUntilMs: Math.max(0, (refusedUs - freeUs) / 1_000),
        triedMs: triedMs(),
        spacingMs,
      };
    }
    if (!(await instrument.wait(spacingMs))) return undefined;
  }
}

/** Waits for the end of every stream. */
async function emptied(instrument: Instrument, { holds }: Filled): Promise<void> {
  while (holds.some((hold) => hold.endUs === 0)) if (!(await instrument.wait(20))) return;
}
