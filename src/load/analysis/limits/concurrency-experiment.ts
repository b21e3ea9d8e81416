import type { PreparedRequest } from "../../../http/load-client/index.ts";
import type { Decision, RateInference } from "../../../limits/index.ts";
import {
  type ConcurrencyInference,
  type HeldRequest,
  inferConcurrency,
  inferRelease,
  type Release,
} from "../../../limits/index.ts";
import type { GatewayUnderTest } from "./gateway-under-test.ts";

/** A long request while it runs. Microseconds; `undefined` for events that have not happened yet. */
export interface Hold {
  readonly sentUs: number;
  readonly headUs: number | undefined;
  readonly endUs: number | undefined;
  /** `undefined` until it is known. */
  verdict(): Decision["verdict"] | undefined;
  /** Whether it was denied with a 429 that names no limit. */
  readonly unnamed?: boolean;
  leave(): void;
}

export interface StreamingGateway extends GatewayUnderTest {
  /** Opens connections in advance, to keep handshakes out of the measurement. */
  open(count: number): Promise<string | undefined>;
  hold(prepared: PreparedRequest): Hold | undefined;
}

export interface ConcurrencyPlan {
  readonly rate: RateInference;
  /** Streams to try, shorter ones first. */
  readonly prepared: readonly PreparedRequest[];
  /** Declared concurrency limit; only saves requests. */
  readonly declared: number | undefined;
  /** 60,000 outside tests. */
  readonly minuteMs: number;
  /** Number of available connections. */
  readonly maxStreams: number;
}

/** How long to wait for response heads before adding more streams, ms: denials arrive immediately. */
const HEADS_MS = 60;
const EXTRA_MS = 20;
/** More consecutive failures than this are not a coincidence. */
const MAX_FAILURES = 5;
/** Streams that are aborted at the same time, so that at least one of them is certainly still running. */
const STREAMS_TO_ABORT = 3;
/** Requests that are sent while the limit is reached. */
const EXTRAS = 40;

interface Filled {
  readonly holds: readonly Hold[];
  readonly full: boolean;
  /** Whether a 429 that names no limit is a concurrency denial here. */
  readonly unnamed: boolean;
}

/**
 * After this many consecutive unnamed denials, each when the rate certainly had room again, they count as concurrency denials.
 */
const UNNAMED_IN_A_ROW = 3;
/** Multiple of the rate's interval after which nothing is denied by the rate limit. */
const SURELY_ROOM = 1.3;

/** Holds as many streams as the limit allows and sends extra requests: while all run, after one ended, after one was aborted. */
export async function concurrencyExperiment(
  gateway: StreamingGateway,
  plan: ConcurrencyPlan,
): Promise<ConcurrencyInference> {
  const needed = (plan.declared ?? 64) + EXTRAS;
  await waitForRateCapacity(gateway, plan, needed);
  let best: Filled = { holds: [], full: false, unnamed: false };
  let prepared = plan.prepared[0];
  for (prepared of plan.prepared) {
    const filled = await fill(gateway, plan, prepared, plan.maxStreams);
    if (filled.full || admittedOf(filled) > admittedOf(best)) best = filled;
    if (filled.full) break;
    await emptied(gateway, filled);
    await waitForRateCapacity(gateway, plan, needed);
  }
  const found = inferConcurrency(heldOf(best));
  if (!best.full || prepared === undefined) return { ...found, ...inferRelease(undefined, undefined) };
  const end = await tryUntilAdmitted(gateway, plan, best, "end");
  await emptied(gateway, best);
  await waitForRateCapacity(gateway, plan, best.holds.length + EXTRAS);
  const again = await fill(gateway, plan, prepared, best.holds.length);
  const leave = again.full ? await tryUntilAdmitted(gateway, plan, again, "leave") : undefined;
  for (const hold of again.holds) hold.leave();
  return { ...inferConcurrency(heldOf(best)), ...inferRelease(end, leave) };
}

function heldOf({ holds, unnamed }: Filled): HeldRequest[] {
  return holds.map((hold) => ({
    sentUs: hold.sentUs,
    headUs: hold.headUs,
    endUs: hold.endUs,
    verdict: unnamed && hold.unnamed === true ? "concurrency" : hold.verdict(),
  }));
}

const admittedOf = ({ holds }: Filled): number => holds.filter((hold) => hold.verdict() === "admitted").length;

/** Waits until the rate, as far as it is known, admits this many. */
async function waitForRateCapacity(
  gateway: GatewayUnderTest,
  { rate, minuteMs }: ConcurrencyPlan,
  needed: number,
): Promise<void> {
  const { value } = rate.perMinute;
  if (value === null || rate.windowS !== null || rate.kind.value === null) {
    await gateway.wait(minuteMs * 1.02);
    return;
  }
  // Time for an even refill to return what is needed, or as much as can be saved up.
  await gateway.wait((Math.min(needed, rate.burst.value ?? needed) / value) * minuteMs);
}

/** Adds streams until one is denied by the concurrency limit, as long as none has ended. */
async function fill(
  gateway: StreamingGateway,
  plan: ConcurrencyPlan,
  prepared: PreparedRequest,
  maxStreams: number,
): Promise<Filled> {
  const holds: Hold[] = [];
  // Opened now: a server may close idle connections that it has had for a while.
  await gateway.open(Math.min(maxStreams, (plan.declared ?? 32) + 8));
  let failures = 0;
  let unnamed = 0;
  const { value } = plan.rate.perMinute;
  const intervalMs = value === null ? 100 : plan.minuteMs / value;
  let atOnce = Math.max(2, Math.ceil((plan.declared ?? 32) / 8));
  const running = () => holds.filter((hold) => hold.verdict() === "admitted" && hold.endUs === undefined).length;
  const ended = () => holds.some((hold) => hold.endUs !== undefined && hold.verdict() === "admitted");
  while (running() < maxStreams && !ended()) {
    const added = Array.from({ length: Math.min(atOnce, maxStreams) }, () => gateway.hold(prepared)).filter(
      (hold) => hold !== undefined,
    );
    if (added.length === 0) break;
    holds.push(...added);
    const sinceUs = gateway.nowUs();
    while (added.some((hold) => hold.verdict() === undefined) && gateway.nowUs() - sinceUs < HEADS_MS * 1_000) {
      if (!(await gateway.wait(2))) return { holds, full: false, unnamed: false };
    }
    const verdicts = added.map((hold) => hold.verdict());
    if (verdicts.includes("concurrency")) return { holds, full: !ended(), unnamed: false };
    if (verdicts.includes("rate")) {
      atOnce = 1;
      const nameless = added.every((hold) => hold.unnamed === true);
      unnamed = nameless ? unnamed + 1 : 0;
      if (unnamed >= UNNAMED_IN_A_ROW) return { holds, full: !ended(), unnamed: true };
      // Retry soon: an evenly spaced limiter admits one request per slot, and a missed slot is lost.
      if (!(await gateway.wait(nameless ? intervalMs * SURELY_ROOM : intervalMs / 4))) break;
    }
    failures = verdicts.every((verdict) => verdict === "failed") ? failures + 1 : 0;
    if (failures > MAX_FAILURES) break;
  }
  return { holds, full: false, unnamed: false };
}

/** Sends while the limit is reached until one is admitted: after the first stream ended, or after one was aborted. */
async function tryUntilAdmitted(
  gateway: StreamingGateway,
  { rate, minuteMs }: ConcurrencyPlan,
  { holds, unnamed }: Filled,
  on: "end" | "leave",
): Promise<Release | undefined> {
  const steady = rate.windowS === null && rate.perMinute.value !== null;
  const spacingMs = steady ? Math.max(EXTRA_MS, (minuteMs / (rate.perMinute.value ?? 1)) * 1.05) : EXTRA_MS;
  const admitted = holds.filter((hold) => hold.verdict() === "admitted");
  let denied = 0;
  let deniedUs = 0;
  const isConcurrency = (decision: Decision) =>
    decision.verdict === "concurrency" || (unnamed && decision.unnamed === true);
  const first = await gateway.send("main");
  if (first !== undefined && isConcurrency(first)) denied++;
  if (first?.verdict === "admitted") return undefined;
  const leftUs = gateway.nowUs();
  const left = on === "leave" ? admitted.slice(-STREAMS_TO_ABORT) : [];
  for (const hold of left) hold.leave();
  const natural = () => admitted.filter((hold) => !left.includes(hold)).flatMap(({ endUs }) => endUs ?? []);
  const startedUs = gateway.nowUs();
  const triedMs = () => (gateway.nowUs() - startedUs) / 1_000;
  for (;;) {
    const ends = natural();
    if (on === "leave" && ends.length > 0)
      return { afterMs: undefined, denied, deniedUntilMs: triedMs(), triedMs: triedMs(), spacingMs };
    const tried = await gateway.send("main");
    if (tried === undefined) return undefined;
    if (isConcurrency(tried)) {
      denied++;
      deniedUs = tried.atUs;
    }
    if (tried.verdict === "admitted") {
      const now = natural();
      if (on === "end" && now.length === 0) return undefined;
      if (on === "leave" && now.some((endUs) => endUs <= tried.atUs)) {
        return { afterMs: undefined, denied, deniedUntilMs: triedMs(), triedMs: triedMs(), spacingMs };
      }
      const freeUs = on === "leave" ? leftUs : Math.min(...now);
      return {
        afterMs: Math.max(0, (tried.atUs - freeUs) / 1_000),
        denied,
        deniedUntilMs: Math.max(0, (deniedUs - freeUs) / 1_000),
        triedMs: triedMs(),
        spacingMs,
      };
    }
    if (!(await gateway.wait(spacingMs))) return undefined;
  }
}

/** Waits until every stream has ended. */
async function emptied(gateway: GatewayUnderTest, { holds }: Filled): Promise<void> {
  while (holds.some((hold) => hold.endUs === undefined)) if (!(await gateway.wait(20))) return;
}
