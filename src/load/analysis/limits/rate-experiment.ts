import { type Decision, inferRate, type RateInference, type RequestKind } from "../../../limits/index.ts";
import type { GatewayUnderTest } from "./gateway-under-test.ts";

export interface RatePlan {
  /** Declared requests per minute; only saves requests, never decides. */
  readonly declaredPerMinute: number | undefined;
  /** Requests in flight during a burst. */
  readonly parallel: number;
  /** Length of the minute in "requests per minute", ms; 60,000 outside tests. */
  readonly minuteMs: number;
}

/**
 * Share of a declared limit sent in the opening: the rest follows a quarter of a minute later, so that windows become visible.
 */
const OPENING_SHARE = 0.4;
const OPENING = 40;
/** Number of individually admitted requests after which a refill is known well enough. */
const REFILLED = 150;
/** One in this many denials is followed by a request of another kind. */
const EVERY = 3;
const GOLDEN = 0.618_034;
/** Listings before a burst, as a share of what the burst may admit, so that they have a visible effect. */
const LISTING_SHARE = 0.1;

/**
 * Overloads one account so that each kind of limiter reacts differently: sends part of the limit, pauses, then sends the
 * rest until the first denial; then observes when capacity returns, and how much.
 */
export async function rateExperiment(gateway: GatewayUnderTest, plan: RatePlan): Promise<RateInference> {
  const { minuteMs } = plan;
  const { declaredPerMinute } = plan;
  const opening = Math.max(
    8,
    Math.round(declaredPerMinute === undefined ? OPENING : declaredPerMinute * OPENING_SHARE),
  );
  const denied = await burst(gateway, opening, plan.parallel);
  if (!denied) {
    await gateway.wait(minuteMs / 4);
    await burst(gateway, Number.POSITIVE_INFINITY, plan.parallel);
  }
  const intervalMs = await measureRefillInterval(gateway, plan);
  if (intervalMs === undefined) await probeWindows(gateway, plan);
  else await probeRefill(gateway, plan, intervalMs);
  return inferRateSoFar(gateway, plan);
}

function inferRateSoFar(
  { decisions, kinds, slackUs, wallOffsetUs, mustEnd }: GatewayUnderTest,
  { minuteMs }: RatePlan,
): Promise<RateInference> {
  return inferRate(decisions, { kinds, slackUs, wallOffsetUs, minuteUs: minuteMs * 1_000 }, mustEnd);
}

/** Sends the next request as soon as a response arrives. @returns whether something was denied by the rate limit. */
async function burst(gateway: GatewayUnderTest, max: number, parallel: number): Promise<boolean> {
  let sent = 0;
  let denied = false;
  let others = 0;
  const worker = async () => {
    while (!denied && sent < max) {
      sent++;
      const decision = await gateway.send("main");
      if (decision === undefined) return;
      if (decision.verdict === "rate") denied = true;
      if (decision.verdict === "concurrency" || decision.verdict === "failed") {
        // Another reason: continue later with fewer in flight.
        others++;
        if (others > 50 || !(await gateway.wait(50))) return;
        if (others > 3) return sequential();
      }
    }
  };
  let alone = false;
  const sequential = async () => {
    if (alone) return;
    alone = true;
    await worker();
  };
  await Promise.all(Array.from({ length: Math.min(parallel, max) }, worker));
  return denied;
}

/**
 * Checks for a few seconds whether single requests are admitted between denials, as happens when the limit refills evenly.
 *
 * @returns approximate time for one to return, ms; `undefined` if nothing returned.
 */
async function measureRefillInterval(
  gateway: GatewayUnderTest,
  { minuteMs, declaredPerMinute }: RatePlan,
): Promise<number | undefined> {
  const declaredMs = minuteMs / (declaredPerMinute ?? 600);
  const spacingMs = Math.min(Math.max(declaredMs / 3, minuteMs / 3_000), minuteMs / 120);
  const lengthMs = Math.max(minuteMs / 15, declaredMs * 4.5);
  const seen = await probe(gateway, ["main"], spacingMs, lengthMs, () => false);
  const back = returns(seen);
  if (back.length < 3) return undefined;
  const spanMs = ((back.at(-1) as number) - (back[0] as number)) / 1_000;
  return spanMs / (back.length - 1);
}

/** Times at which a request was admitted after a denial. */
function returns(decisions: readonly Decision[]): number[] {
  return decisions.flatMap((decision, index) =>
    decision.verdict === "admitted" && decisions[index - 1]?.verdict === "rate" ? [decision.atUs] : [],
  );
}

/** One request at a time, evenly spaced. Kinds other than main are sent right after a denial, where the result is conclusive. */
async function probe(
  gateway: GatewayUnderTest,
  kinds: readonly RequestKind[],
  spacingMs: number,
  lengthMs: number,
  enough: (seen: readonly Decision[]) => boolean,
): Promise<Decision[]> {
  const seen: Decision[] = [];
  const others = kinds.filter((kind) => kind !== "main");
  const startUs = gateway.nowUs();
  let turn = 0;
  let denials = 0;
  // Uneven steps: a multiple of the limiter's interval would always meet it in the same state.
  for (let step = 1, dueMs = spacingMs; (gateway.nowUs() - startUs) / 1_000 < lengthMs; step++) {
    const decision = await gateway.send("main");
    if (decision === undefined) break;
    seen.push(decision);
    if (enough(seen)) break;
    if (decision.verdict === "rate" && others.length > 0 && ++denials % EVERY === 0) {
      if ((await gateway.send(others[turn++ % others.length] as RequestKind)) === undefined) break;
      // The second denial of the main kind, which makes the request in between conclusive.
      const after = await gateway.send("main");
      if (after === undefined) break;
      seen.push(after);
    }
    const waitMs = dueMs - (gateway.nowUs() - startUs) / 1_000;
    dueMs += spacingMs * (0.5 + ((step * GOLDEN) % 1));
    if (waitMs > 0 && !(await gateway.wait(waitMs))) break;
  }
  return seen;
}

/** For an even refill: measures its rate, which requests share it, and how much capacity builds up during a pause. */
async function probeRefill(gateway: GatewayUnderTest, plan: RatePlan, intervalMs: number): Promise<void> {
  const { minuteMs } = plan;
  const spacingMs = Math.min(intervalMs / 3, minuteMs / 2_000);
  const admitted = (seen: readonly Decision[]) => seen.filter(({ verdict }) => verdict === "admitted").length;
  const enough = (seen: readonly Decision[]) => admitted(seen) >= REFILLED;
  await probe(gateway, ["main", ...gateway.kinds], spacingMs, minuteMs * 0.75, enough);
  await gateway.wait(Math.max(minuteMs / 6, intervalMs * 4));
  const expected = minuteMs / 6 / intervalMs;
  await listings(gateway, Math.ceil(expected * LISTING_SHARE));
  await burst(gateway, Number.POSITIVE_INFINITY, plan.parallel);
  for (let round = 0; round < 3; round++) {
    // With an almost empty bucket, even two model list requests show whether they count.
    await gateway.wait(intervalMs * 3);
    await listings(gateway, 2);
    await burst(gateway, Number.POSITIVE_INFINITY, plan.parallel);
  }
}

/** Windows: waits until capacity returns, and uses it immediately. */
async function probeWindows(gateway: GatewayUnderTest, plan: RatePlan): Promise<void> {
  const { minuteMs } = plan;
  const spacingMs = minuteMs / 300;
  const back = (seen: readonly Decision[]) => seen.at(-1)?.verdict === "admitted";
  const kinds: RequestKind[] = ["main", ...gateway.kinds];
  for (let round = 0; round < 3; round++) {
    const before = gateway.decisions.filter(({ verdict }) => verdict === "admitted").length;
    const seen = await probe(gateway, kinds, spacingMs, minuteMs * 1.1, back);
    if (!back(seen)) {
      // If denied requests count, sending keeps the window full: a rest reveals this.
      if (!(await gateway.wait(minuteMs * 1.02))) return;
    }
    await listings(gateway, Math.max(6, Math.min(60, Math.round(before * LISTING_SHARE))));
    await burst(gateway, Number.POSITIVE_INFINITY, plan.parallel);
    // A few denials after the burst: when they end is informative, too.
    await probe(gateway, kinds, spacingMs, spacingMs * 12, () => false);
    const { kind, deniedCount, scopes } = await inferRateSoFar(gateway, plan);
    // A window that ended soon after its last burst left no time to send the other kinds between denials.
    const allKnown = Object.entries(scopes).every(
      ([name, { value }]) => value !== null || !kinds.includes(name as RequestKind),
    );
    if (kind.confidence === "high" && deniedCount.value !== null && allKnown) return;
    if (gateway.left.requests <= 0) return;
  }
}

async function listings(gateway: GatewayUnderTest, count: number): Promise<void> {
  if (!gateway.kinds.includes("listing")) return;
  for (let sent = 0; sent < count; sent++) if ((await gateway.send("listing")) === undefined) return;
}
