import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { describeCapacity, RATE } from "../../../src/commands/capacity/text.ts";
import type { Capacity, CapacityStep } from "../../../src/load/index.ts";
import { resultText } from "../../../src/run/record/index.ts";

type Binds = CapacityStep["binds"];

/** A level of the search: met, unless something binds. */
function step(level: number, binds: Binds = "nothing", why = ""): CapacityStep {
  const met = binds === "nothing";
  const point = { level, durationS: 75, met, admittedPerS: level, admittedPerSInterval: null, figures: [] };
  const outcomes = [{ clause: "response_ms p99 < 500", met, sure: true, observed: "210.4 ms" }];
  return { level, met, durationS: 75, admittedPerS: level, outcomes, binds, why, point };
}

/** A search that held a level, and found the next one to be beyond what binds. */
function found(level: number, binds: Binds, overrides: Partial<Capacity> = {}): Capacity {
  const held = step(level);
  const beyond = binds === "nothing" ? undefined : step(level * 2, binds, "missed");
  const steps = beyond === undefined ? [held] : [held, beyond];
  return { best: held, beyond, steps, frontier: [], held, binds, confidence: "high", cut: null, ...overrides };
}

function textOf(
  capacity: Capacity,
  head: { readonly name?: string; readonly signal?: string; readonly to?: number } = {},
): string {
  const { name = RATE, signal, to = 100 } = head;
  const rest = { objective: "response_ms p99 < 500", to, neededMinutes: 7, exitCode: 0, budget: 4_000, signal };
  return resultText(describeCapacity(capacity, { name, ...rest }), pc.createColors(false));
}

const tierSentence = (capacity: Capacity, name?: string) =>
  textOf(capacity, name === undefined ? {} : { name })
    .split("\n")
    .find((line) => line.includes("enough for"))
    ?.trim();

describe("the tiers for which a held rate is enough", () => {
  test("are those with a rate limit of at most it, if the gateway itself is the limit", () => {
    expect(tierSentence(found(20, "latency"))).toBe(
      "20 requests/s is enough for the rate limits of starter (5/s) and growth (16.7/s), but not for the rate limit of scale (50/s).",
    );
    expect(tierSentence(found(50, "failures"))).toBe(
      "50 requests/s is enough for the rate limits of starter (5/s), growth (16.7/s) and scale (50/s).",
    );
    expect(tierSentence(found(4, "latency"))).toBe(
      "4 requests/s is not enough for the rate limits of starter (5/s), growth (16.7/s) and scale (50/s).",
    );
  });

  // A limit of the account or of this machine does not show what the gateway lacks, and neither does the end of the range.
  const others = ["rate limit", "concurrency limit", "denials", "generator", "nothing"] as const;
  test.each(others)(
    "do not include those beyond it, but no tier is called out of reach, if what binds is: %s",
    (binds) => {
      expect(tierSentence(found(20, binds))).toBe(
        "20 requests/s is enough for the rate limits of starter (5/s) and growth (16.7/s).",
      );
      expect(tierSentence(found(4, binds))).toBeUndefined();
    },
  );

  test("are not named if the rate was not held", () => {
    const text = textOf(found(20, "latency", { held: undefined, confidence: "low" }));
    expect(text).not.toContain("enough for");
    expect(text).toContain("Confidence: low, because this level was not held for 75 s.");
  });

  test("are not named if replies were unusable at any level", () => {
    const broken = step(30, "invalid replies", "3 of 400 replies were empty");
    const capacity = found(20, "latency");
    const text = textOf({ ...capacity, steps: [...capacity.steps, broken] });
    expect(text).toContain("Unusable replies at 30 requests/s: 3 of 400 replies were empty.");
    expect(text).not.toContain("enough for");
  });

  test("are named by their concurrency limits for a number of requests in flight", () => {
    expect(tierSentence(found(64, "latency"), "in flight")).toBe(
      "64 in flight is enough for the concurrency limit of starter (64), but not for the concurrency limits of growth (200) and scale (500).",
    );
    expect(tierSentence(found(20, "latency"), "in flight")).toBe(
      "20 in flight is not enough for the concurrency limits of starter (64), growth (200) and scale (500).",
    );
    expect(tierSentence(found(20, "concurrency limit"), "in flight")).toBeUndefined();
  });
});

describe("a level", () => {
  const levelLine = (met: boolean | null, unusable?: string) => {
    const figures = [
      { clause: "response_ms p99 < 500", met: met === null ? null : true, value: 2.1, interval: null },
      { clause: "denied < 0.1%", met, value: 0.98, interval: null },
    ];
    const base = { level: 5, durationS: 5, met: met === true, admittedPerS: 1.5, admittedPerSInterval: null, figures };
    const point = unusable === undefined ? base : { ...base, unusable };
    return textOf(found(4, "latency", { frontier: [point] }))
      .split("\n")
      .find((line) => line.startsWith("  5 requests/s"));
  };

  test("names what it missed first", () => {
    expect(levelLine(false)).toMatch(
      /admitted\/s: missed denied < 0\.1%: 98\.00 % \(.*\); met response_ms p99 < 500: 2\.1 ms/,
    );
  });

  test("met nothing if its replies were unusable, however fast, or if this machine sent late", () => {
    const unusable = levelLine(null, "400 of 400 replies were HTML pages");
    expect(unusable).toMatch(/admitted\/s: 400 of 400 replies were HTML pages; response_ms p99 < 500: 2\.1 ms/);
    expect(levelLine(null)).toMatch(/: not judged, because this machine could not send on time; response_ms/);
    for (const line of [unusable, levelLine(null)]) expect(line).not.toMatch(/\bmet\b/);
  });
});

describe("how a search ended", () => {
  const notMet: Partial<Capacity> = { best: undefined, held: undefined, confidence: "none" };
  const outOfTime: Partial<Capacity> = { cut: "minutes" };

  test.each<[sentence: string, binds: Binds, overrides: Partial<Capacity>]>([
    ["The gateway held 20 requests/s with response_ms p99 < 500; at 40 it did not (missed).", "latency", {}],
    ["Limited by: latency.", "latency", {}],
    [
      "No limit found. The highest level tried, 20 requests/s, met the objective (response_ms p99 < 500).",
      "nothing",
      {},
    ],
    ["No limit found up to --to.", "nothing", {}],
    ["No limit found: at least 20 requests/s; this machine could not send more.", "generator", {}],
    ["The gateway did not meet the objective at any level (response_ms p99 < 500).", "latency", notMet],
    ["The budget of 4,000 requests ran out before the search ended.", "nothing", { cut: "requests" }],
    [
      "Limited by: latency. There was not enough time left for the next level. Each level above the declared limit, and the best level at the end, takes 75 s. --minutes 7 is usually enough to search this range.",
      "latency",
      outOfTime,
    ],
  ])("%s", (sentence, binds, overrides) => {
    expect(textOf(found(20, binds, overrides))).toContain(sentence);
  });

  test("a level that met the objective, but was denied requests, is not said to have missed it", () => {
    const why = "1.33 % of 4,500 requests were denied: rate_limit_exceeded";
    const denied = { clause: "denied < 0.1%", met: false, sure: true, observed: "1.33 % of 4,500" };
    const beyond = step(40, "rate limit", why);
    const met = { ...beyond, outcomes: [...step(40).outcomes, denied] };
    expect(textOf(found(20, "rate limit", { beyond: met }))).toContain(
      `The gateway held 20 requests/s with response_ms p99 < 500; at 40, ${why}.`,
    );
  });

  test("the highest level of --to could not be held in time", () => {
    const text = textOf(found(20, "nothing", { ...outOfTime, held: undefined }), { to: 20 });
    expect(text).toContain(
      "There was not enough time left to hold this level for 75 s. --minutes 7 is usually enough to search this range; to try higher levels, also increase --to.",
    );
  });

  test("a signal is named instead of a limit", () => {
    const text = textOf(found(20, "latency", { cut: "interrupted" }), { signal: "SIGINT" });
    expect(text).toContain("Interrupted by SIGINT before the search ended.");
    expect(text).not.toContain("Limited by");
  });
});
