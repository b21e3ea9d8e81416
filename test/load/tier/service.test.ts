import { expect, test } from "vitest";
import type { Observation } from "../../../src/judging/index.ts";
import { judgeAdmission, judgeService } from "../../../src/load/tier/judge/judge-service.ts";
import { sent } from "../support/observations.ts";

const NO_STALLS = { stalledSpans: [], late: [], busy: [] };
/** A lone stream in both dialects: two seconds, with its tokens spread over nine tenths of it. */
const LONG = { id: "long", durationMs: 2_000, longestGapMs: 60, spread: { chat: 0.9, messages: 0.9 } };

const took = (ms: number, more: Partial<Observation> = {}) => {
  const one = sent(10, more);
  return { ...one, endUs: one.sentUs + ms * 1_000 };
};

/** A stream of two seconds whose first token arrived after some of them. */
const stream = (dialect: Observation["dialect"], firstMs: number) => {
  const one = took(2_000, { dialect, stream: true, role: "wave", tokens: 40 });
  return { ...one, firstTokenUs: one.sentUs + firstMs * 1_000 };
};
const streams = (dialect: Observation["dialect"], firstMs: number) =>
  Array.from({ length: 8 }, () => stream(dialect, firstMs));
const buffered = (facts: readonly Observation[], long = LONG) =>
  judgeService(facts, long, NO_STALLS).find(({ name }) => name === "streams.buffered")?.outcome;

test("streams that arrive incrementally in both dialects pass", () => {
  expect(buffered([...streams("chat", 200), ...streams("messages", 300)])).toBe("met");
});

test("one dialect whose streams are buffered is detected although the other's are not", () => {
  expect(buffered([...streams("chat", 200), ...streams("messages", 1_990)])).toBe("broken");
  expect(buffered([...streams("chat", 1_990), ...streams("messages", 200)])).toBe("broken");
});

test("a dialect whose single stream arrived in one piece is not judged by its concurrent streams", () => {
  const long = { ...LONG, spread: { chat: 0.9, messages: 0 } };
  expect(buffered([...streams("chat", 200), ...streams("messages", 1_990)], long)).toBe("met");
});

const usual = Array.from({ length: 300 }, () => took(20));

test("a provider's stray failures under load are a warning, and more of them fail", () => {
  const failed = (count: number) =>
    Array.from({ length: count }, () => took(20, { outcome: "failed", what: "502", status: 502 }));
  const judge = (count: number) =>
    judgeService([...usual, ...failed(count)], LONG, NO_STALLS).find(({ name }) => name === "service.failed");
  expect(judge(1)?.outcome).toBe("met");
  expect(judge(2)).toMatchObject({ outcome: "broken", weight: "warn" });
  expect(judge(12)).toMatchObject({ outcome: "broken", weight: "fail" });
  // A waiver covers a share of failures, not any number.
  expect(judge(12)?.magnitude).toBeCloseTo(12 / (usual.length + 12), 9);
  expect(judge(1)?.magnitude).toBeUndefined();
});

test("a phase fails if every request failed; it decides nothing if requests were denied or reached no gateway", () => {
  const failed = (what: string) => took(20, { outcome: "failed", what, status: undefined });
  const denied = took(20, { outcome: "denied", what: "rate_limit_exceeded", status: 429 });
  const judge = (...facts: readonly Observation[]) => judgeAdmission(facts)[0];
  expect(judge(failed("500"))).toMatchObject({ outcome: "broken", weight: "fail", basis: "content" });
  expect(judge(failed("reset"), failed("unreachable"))?.outcome).toBe("broken");
  // The basis is not timing: a busy machine must not replace the reason.
  expect(judge(failed("unreachable"), failed("unreachable"))).toMatchObject({ outcome: "undecided", basis: "content" });
  expect(judge(failed("aborted"))?.outcome).toBe("undecided");
  expect(judge(denied, failed("500"))?.outcome).toBe("undecided");
  expect(judge()?.outcome).toBe("undecided");
  expect(judge(failed("500"), took(20))?.outcome).toBe("met");
});

test("few failures are a warning without a MUST requirement, many violate BASE-3", () => {
  const found = (failures: number) => {
    const failed = { outcome: "failed", what: "502", status: 502 } as const;
    const all = [
      ...Array.from({ length: 200 - failures }, () => took(20)),
      ...Array.from({ length: failures }, () => took(20, failed)),
    ];
    const finding = judgeService(all, LONG, NO_STALLS).find(({ name }) => name === "service.failed");
    return [finding?.outcome, finding?.weight, finding?.requirements];
  };
  expect(found(4)).toEqual(["broken", "warn", ["LIMIT-CONC-7", "STEADY-SERVICE"]]);
  expect(found(40)).toEqual(["broken", "fail", ["BASE-3", "LIMIT-CONC-7", "STEADY-SERVICE"]]);
});
