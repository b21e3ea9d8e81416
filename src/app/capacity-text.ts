import { formatCount, formatNumber, formatRounded } from "../core/index.ts";
import type { Capacity, CapacityStep, FrontierPoint, LoadProgress } from "../load/index.ts";
import type { Colors } from "./outcome.ts";
import { withVerdict } from "./verdict-text.ts";

interface CapacityHead {
  /** What is counted: `in flight` or `requests per second`. */
  readonly name: string;
  readonly exitCode: number;
  /** Requests that the search was allowed to send. */
  readonly budget: number;
  /** The signal that ended the search. */
  readonly signal: string | undefined;
}

/** A capacity for the terminal. */
export function renderCapacity(found: Capacity, head: CapacityHead, colors: Colors): string {
  const { best, held, frontier } = found;
  const { name } = head;
  const outcomes = (held ?? best)?.outcomes ?? [];
  const lines = [
    best === undefined
      ? "capacity: no level met the objective"
      : `capacity: ${levelText(best.level)} ${name} (${confidenceText(found)})`,
    ...outcomes.map(
      ({ clause, observed, sure, needed }) => `  ${clause}: ${observed}${sure ? "" : ` (${undecidedText(needed)})`}`,
    ),
    `limited by: ${limitText(found, name)}`,
    "levels tried:",
    ...frontier.map((point) => pointText(point, name)),
  ];
  const sentence = sentenceOf(found, head);
  return withVerdict(`${lines.join("\n")}\n`, { exitCode: head.exitCode, sentence }, colors);
}

/** What decided the verdict. */
function sentenceOf({ best, binds, cut, steps }: Capacity, { name, budget, signal }: CapacityHead): string {
  const broken = steps.find((step) => step.binds === "invalid replies");
  if (broken !== undefined) return `unusable replies at ${levelText(broken.level)} ${name}: ${broken.why}`;
  if (signal !== undefined) return `interrupted by ${signal} before the search ended`;
  if (cut === "interrupted") return "interrupted before the search ended";
  if (cut === "requests") return `limit not found within the budget of ${formatCount(budget, "request")}`;
  if (cut === "minutes") return "the time ran out before the search ended; use a longer --minutes";
  if (best === undefined) return "no level met the objective";
  if (binds === "generator")
    return "the load generator was too busy to send more, so the limit of the gateway is not known";
  return `${levelText(best.level)} ${name} met the objective`;
}

/** `low confidence: the time ran out before this level was held for 75 s; use a longer --minutes`. */
function confidenceText({ confidence, held, beyond, cut }: Capacity): string {
  const why =
    held === undefined
      ? `${ENDS[cut ?? "interrupted"]} before this level was held for 75 s${cut === "minutes" ? "; use a longer --minutes" : ""}`
      : beyond === undefined
        ? "no higher level missed the objective"
        : held.outcomes.some(({ sure }) => !sure)
          ? "too few requests to decide"
          : undefined;
  return `${confidence} confidence${why === undefined ? "" : `: ${why}`}`;
}

const ENDS = {
  minutes: "the time ran out",
  requests: "the budget was used up",
  interrupted: "the search ended",
} as const satisfies Readonly<Record<NonNullable<Capacity["cut"]>, string>>;

function undecidedText(needed: number | undefined): string {
  return `too few requests to decide${needed === undefined ? "" : `; ${formatNumber(needed)} are needed`}`;
}

function limitText({ best, beyond, binds, cut }: Capacity, name: string): string {
  if (beyond !== undefined) return `${binds} (at ${levelText(beyond.level)} ${name}, ${beyond.why})`;
  if (cut === null) return "nothing found up to --to";
  return `nothing found${best === undefined ? "" : ` up to ${levelText(best.level)} ${name}`}, where the search ended`;
}

/** A number of streams, or a rate. */
export function levelText(level: number): string {
  return formatRounded(level, 2);
}

export function stepText({ level, durationS, met, binds, why }: CapacityStep, name: string): string {
  return `${levelText(level)} ${name} for ${Math.round(durationS)} s: objective ${met ? "met" : `missed (${binds}): ${why}`}`;
}

export function progressText(level: string, { elapsedS, totalS = 0, admittedPerS, denied }: LoadProgress): string {
  const denials = denied === 0 ? "" : `, ${formatNumber(denied)} denied`;
  return `${level}: ${Math.round(elapsedS)} of ${Math.round(totalS)} s, ${formatNumber(admittedPerS)}/s admitted${denials}`;
}

/** `  12.5 requests per second, 12.4 (12.2 to 12.6) admitted/s, met: response_ms p99 < 500: 210.4 ms (190.0 ms to 260.1 ms)`. */
function pointText({ level, met, admittedPerS, admittedPerSInterval, figures }: FrontierPoint, name: string): string {
  const span = (ends: readonly [number, number] | null, write: (value: number) => string) =>
    ends === null ? "too few requests for an interval" : `${write(ends[0])} to ${write(ends[1])}`;
  const seen = figures.map(({ clause, value, interval }) => {
    const isShare = /^(failed|denied|dropped)/.test(clause);
    const write = (of: number) => (isShare ? `${(of * 100).toFixed(2)} %` : `${formatNumber(of, 1)} ms`);
    return `${clause}: ${value === null ? "not measured" : `${write(value)} (${span(interval, write)})`}`;
  });
  const rate = `${formatNumber(admittedPerS, 1)} (${span(admittedPerSInterval, (value) => formatNumber(value, 1))}) admitted/s`;
  return `  ${levelText(level)} ${name}, ${rate}, ${met ? "met" : "missed"}: ${seen.join("; ")}`;
}
