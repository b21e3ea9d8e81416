import { formatCount, formatNumber, formatRounded } from "../../core/index.ts";
import { type Capacity, type CapacityStep, type FrontierPoint, HOLD_S, type LoadProgress } from "../../load/index.ts";
import type { CommandResult } from "../../run/record/index.ts";
import { TIER_LIMITS } from "../../target/index.ts";

/** The unit of rates. */
export const RATE = "requests/s";

interface CapacityHead {
  /** What is counted: `in flight` or `requests/s`. */
  readonly name: string;
  /** The objective as written. */
  readonly objective: string;
  /** The highest level of the search. */
  readonly to: number;
  /** Minutes that suffice to find a limit in the range, unless levels have to be repeated. */
  readonly neededMinutes: number;
  readonly exitCode: number;
  /** Requests that the search was allowed to send. */
  readonly budget: number;
  /** The signal that ended the search. */
  readonly signal: string | undefined;
}

/** A capacity: the levels, then what they show. */
export function describeCapacity(found: Capacity, head: CapacityHead): CommandResult {
  const { best, held, frontier, confidence } = found;
  const outcomes = (held ?? best)?.outcomes ?? [];
  const lines = [
    "levels tried:",
    ...frontier.map((point) => pointText(point, head.name)),
    ...(best === undefined ? [] : [`at ${levelText(best.level)} ${head.name}:`]),
    ...outcomes.map(
      ({ clause, observed, sure, needed }) => `  ${clause}: ${observed}${sure ? "" : ` (${undecidedText(needed)})`}`,
    ),
  ];
  const why = whyUncertain(found);
  const conclusion = [
    sentenceOf(found, head),
    limitText(found, head),
    ...(held === undefined ? [] : tierText(found, held, head.name)),
    ...(best === undefined ? [] : [`Confidence: ${confidence}${why === undefined ? "" : `, because ${why}`}.`]),
  ];
  return { exitCode: head.exitCode, body: `${lines.join("\n")}\n`, sentence: conclusion.join("\n  ") };
}

/** What was held, and what was not. */
function sentenceOf(
  { best, beyond, held: heldStep, binds, steps }: Capacity,
  { name, objective }: CapacityHead,
): string {
  const broken = steps.find((step) => step.binds === "invalid replies");
  if (broken !== undefined) return `Unusable replies at ${levelText(broken.level)} ${name}: ${broken.why}.`;
  if (best === undefined)
    return steps.length === 0
      ? "No level was measured."
      : `The gateway did not meet the objective at any level (${objective}).`;
  const held = `${levelText(best.level)} ${name}`;
  if (binds === "generator") return `No limit found: at least ${held}; this machine could not send more.`;
  if (beyond === undefined)
    return `No limit found. The highest level tried, ${held}, met the objective (${objective}).`;
  const didNot = missedObjective(beyond, objective)
    ? `at ${levelText(beyond.level)} it did not (${beyond.why}).`
    : `at ${levelText(beyond.level)}, ${beyond.why}.`;
  return heldStep === undefined
    ? `The gateway met ${objective} at ${held} for ${formatNumber(best.durationS)} s; ${didNot}`
    : `The gateway held ${held} with ${objective}; ${didNot}`;
}

/** Whether a level missed a clause of the objective, rather than only an implicit bound on requests that got no reply. */
const missedObjective = ({ outcomes }: CapacityStep, objective: string): boolean =>
  outcomes.some(({ met, clause }) => !met && (!isShareOf(clause) || objective.includes(clause.split(" ")[0] ?? "")));

/** Whether a clause is about a share of the requests, not a latency. */
const isShareOf = (clause: string): boolean => /^(failed|denied|dropped)/.test(clause);

/** What limited, or why the search ended without a limit. */
function limitText(
  { best, beyond, binds, cut }: Capacity,
  { to, neededMinutes, budget, signal }: CapacityHead,
): string {
  if (signal !== undefined) return `Interrupted by ${signal} before the search ended.`;
  if (cut === "interrupted") return "Interrupted before the search ended.";
  const end =
    cut === "requests"
      ? `The budget of ${formatCount(budget, "request")} ran out before the search ended.`
      : cut === "minutes"
        ? outOfTime(best !== undefined && best.level >= to, neededMinutes)
        : undefined;
  if (beyond === undefined) return end ?? "No limit found up to --to.";
  return `Limited by: ${binds === "generator" ? "this machine" : binds}.${end === undefined ? "" : ` ${end}`}`;
}

const outOfTime = (isHighest: boolean, neededMinutes: number): string => {
  const advice = `--minutes ${neededMinutes} is usually enough to search this range`;
  return isHighest
    ? `There was not enough time left to hold this level for ${HOLD_S} s. ${advice}; to try higher levels, also increase --to.`
    : `There was not enough time left for the next level. Each level above the declared limit, and the best level at the end, takes ${HOLD_S} s. ${advice}.`;
};

/** `20 requests/s is enough for the rate limits of starter (5/s) and growth (16.7/s), but not for the rate limit of scale (50/s).` */
function tierText({ beyond, binds, steps }: Capacity, { level }: CapacityStep, name: string): string[] {
  // Unusable replies are not served load. A limit of the account or of this machine does not show what the gateway lacks.
  if (steps.some((step) => step.binds === "invalid replies")) return [];
  const isGateway = beyond !== undefined && (binds === "latency" || binds === "failures");
  const isRate = name === RATE;
  const tiers = Object.entries(TIER_LIMITS).map(([tier, { rpm, inFlight }]) => ({
    tier,
    limit: isRate ? rpm / 60 : inFlight,
  }));
  const enough = tiers.filter(({ limit }) => limit <= level);
  const short = isGateway ? tiers.filter(({ limit }) => limit > level) : [];
  const what = isRate ? "rate limit" : "concurrency limit";
  const limitsOf = (some: typeof tiers) =>
    `the ${what}${some.length === 1 ? "" : "s"} of ${LIST.format(some.map(({ tier, limit }) => `${tier} (${formatRounded(limit, 1)}${isRate ? "/s" : ""})`))}`;
  const held = `${levelText(level)} ${name}`;
  if (enough.length === 0) return short.length === 0 ? [] : [`${held} is not enough for ${limitsOf(short)}.`];
  return [`${held} is enough for ${limitsOf(enough)}${short.length === 0 ? "" : `, but not for ${limitsOf(short)}`}.`];
}

/** `a, b and c`. */
const LIST = new Intl.ListFormat("en-GB");

/** Why the result is not certain. */
function whyUncertain({ held, beyond }: Capacity): string | undefined {
  if (held === undefined) return `this level was not held for ${HOLD_S} s`;
  if (beyond === undefined) return "no higher level missed the objective";
  const unsure = held.outcomes.find(({ sure }) => !sure);
  if (unsure === undefined) return undefined;
  const { clause, needed } = unsure;
  return needed === undefined
    ? "there were too few requests to decide"
    : `deciding ${clause} would take ${formatCount(needed, "request")}`;
}

function undecidedText(needed: number | undefined): string {
  return `met, but too few requests to confirm it${needed === undefined ? "" : `; ${formatNumber(needed)} are needed`}`;
}

/** A number of streams, or a rate. */
export function levelText(level: number): string {
  return formatRounded(level, 2);
}

export function stepText({ level, durationS, met, binds, why, outcomes }: CapacityStep, name: string): string {
  return `${levelText(level)} ${name} for ${Math.round(durationS)} s: objective ${met ? (outcomes.every(({ sure }) => sure) ? "met" : "met, not confirmed (too few requests)") : `missed (${binds}): ${why}`}`;
}

export function progressText(level: string, { elapsedS, totalS = 0, admittedPerS, denied }: LoadProgress): string {
  const denials = denied === 0 ? "" : `, ${formatNumber(denied)} denied`;
  return `${level}: ${Math.round(elapsedS)} of ${Math.round(totalS)} s, ${formatNumber(admittedPerS)}/s admitted${denials}`;
}

/** `  12.5 requests/s, 12.4 (12.2 to 12.6) admitted/s: met response_ms p99 < 500: 210.4 ms (190.0 ms to 260.1 ms)`. */
function pointText(point: FrontierPoint, name: string): string {
  const { level, met, admittedPerS, admittedPerSInterval, figures, unusable } = point;
  const span = (ends: readonly [number, number] | null, write: (value: number) => string) =>
    ends === null ? "too few requests for an interval" : `${write(ends[0])} to ${write(ends[1])}`;
  // Of the shares, only those that are not 0 say something.
  const shown = figures.filter(({ clause, value }) => value !== 0 || !isShareOf(clause));
  // Missed clauses come first.
  const ordered = [...shown].sort((a, b) => Number(a.met) - Number(b.met));
  const seen = ordered.map(({ clause, met: isMet, value, interval }) => {
    const isShare = isShareOf(clause);
    const write = (of: number) => (isShare ? `${(of * 100).toFixed(2)} %` : `${formatNumber(of, 1)} ms`);
    const measured = value === null ? "not measured" : `${write(value)} (${span(interval, write)})`;
    return `${isMet === null ? "" : isMet ? "met " : "missed "}${clause}: ${measured}`;
  });
  const rate = `${formatNumber(admittedPerS, 1)} (${span(admittedPerSInterval, (value) => formatNumber(value, 1))}) admitted/s`;
  const isLate = unusable === undefined && figures.some((figure) => figure.met === null);
  const why = isLate ? "not judged, because this machine could not send on time" : unusable;
  const parts = [...(why === undefined ? [] : [why]), ...seen];
  return `  ${levelText(level)} ${name}, ${rate}: ${parts.length > 0 ? parts.join("; ") : met ? "objective met" : "objective missed"}`;
}
