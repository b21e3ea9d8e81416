import { describe, expect, test } from "vitest";
import type { Response } from "../../src/checks/index.ts";
import { checkChanges } from "../../src/record/check-changes.ts";
import { strayFailures } from "../../suites/limits/denials.ts";
import { judged, seen } from "../support/seen-response.ts";

const times = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));
const served = (sentMs: number) => seen({ sentMs, endMs: sentMs + 5 });
const failed = (sentMs: number, status = 502) => seen({ sentMs, endMs: sentMs + 5, status });
const rateDenial = (sentMs: number) => seen({ sentMs, endMs: sentMs + 5, status: 429, reason: "rate_limit_exceeded" });
const full = (sentMs: number) => seen({ sentMs, endMs: sentMs + 5, status: 429, reason: "concurrency_limit_exceeded" });

const EXPECTED = {
  rate: { reason: "rate_limit_exceeded", status: 429, readAs: "rate_limit_exceeded", actionHint: false },
  concurrency: {
    reason: "concurrency_limit_exceeded",
    status: 429,
    readAs: "concurrency_limit_exceeded",
    actionHint: false,
  },
};

/** The rate scenario's recording of one burst. */
const rateRecording = (responses: readonly Response[], seconds = 1) => ({
  limits: { rpm: 300, inFlight: 8 },
  expected: EXPECTED.rate,
  first: { what: "chat", responses, seconds },
  second: null,
  third: null,
  extraBurst: [],
  whileDenied: [],
  undenied: [],
  paced: [],
});

describe("one failure among many requests", () => {
  test("is not a rate limit denial, and many are", () => {
    const burst = [...times(100, served), failed(100), ...times(200, (at) => served(101 + at))];
    const reasons = ({ message, findings }: ReturnType<typeof judged>) =>
      findings.some(({ outcome, requirements }) => outcome === "broken" && requirements.includes("ERR-429-RATE"))
        ? message
        : "in order";
    expect(reasons(judged("limits.rate-denial", rateRecording([...burst, rateDenial(400)])))).toBe("in order");
    const wrong = rateRecording([...burst, rateDenial(400), ...times(4, (at) => failed(401 + at, 503))]);
    expect(reasons(judged("limits.rate-denial", wrong))).toMatch(/expected 429, got 503/);
  });

  test("uses none of the limit, but more of them do", () => {
    const burst = (failures: number) => ({
      limits: { rpm: 6_000, inFlight: 4 },
      unnamed: "rate",
      spaced: false,
      expected: EXPECTED.concurrency,
      burst: [...times(4 - failures, served), ...times(failures, (at) => failed(at)), ...times(8, full)],
    });
    expect(judged("limits.concurrency-exact", burst(0)).status).toBe("pass");
    expect(judged("limits.concurrency-exact", burst(1)).status).toBe("pass");
    expect(judged("limits.concurrency-exact", burst(2)).status).toBe("fail");
  });

  test("is at most one in thirty, and never all requests", () => {
    expect(strayFailures([...times(3, served), failed(3)])).toHaveLength(1);
    expect(strayFailures([...times(3, served), failed(3), failed(4)])).toHaveLength(0);
    expect(strayFailures([...times(98, served), failed(98), failed(99)])).toHaveLength(2);
    expect(strayFailures([failed(0)])).toHaveLength(0);
    // By its named reason it is a denial, whatever its status.
    expect(
      strayFailures([served(0), seen({ sentMs: 1, endMs: 2, status: 503, reason: "rate_limit_exceeded" })]),
    ).toEqual([]);
  });
});

describe("a burst without a denial", () => {
  test("fails a gateway that admitted more than any window does", () => {
    expect(judged("limits.rate-enforced", rateRecording(times(602, served), 3)).status).toBe("fail");
  });

  test("decides nothing if it was too slow for the limit, or ended in failures", () => {
    expect(judged("limits.rate-enforced", rateRecording(times(602, served), 190))).toMatchObject({
      status: "inconclusive",
      message: "chat: 602 requests were admitted in 190 s, which does not reach 300 per minute",
    });
    const outage = [...times(50, served), ...times(4, (at) => failed(50 + at))];
    expect(judged("limits.rate-enforced", rateRecording(outage)).status).toBe("inconclusive");
  });

  test.each([
    ["a 503", { status: 503 }],
    ["a reset", { hasResponse: false }],
  ])("fails a gateway whose rate limit denial is %s", (_, how) => {
    const instead = (at: number) => seen({ sentMs: at, endMs: at + 5, ...how });
    const wrong = [...times(300, served), ...times(4, (at) => instead(300 + at))];
    expect(judged("limits.rate-enforced", rateRecording(wrong)).status).toBe("fail");
  });

  test("fails a gateway whose rate limit denial says concurrency, with nothing in flight", () => {
    const wrong = [...times(300, served), ...times(4, (at) => full(3_000 + 1_000 * at))];
    expect(judged("limits.rate-enforced", rateRecording(wrong, 6))).toMatchObject({
      status: "fail",
      message: expect.stringContaining("300 of 304 admitted"),
    });
    const busy = [...times(200, served), ...times(4, (at) => full(200 + at))];
    expect(judged("limits.rate-enforced", rateRecording(busy)).status).toBe("inconclusive");
  });
});

test("streams of a tier that all fail show nothing about its limit", () => {
  const filled = (held: readonly Response[]) => ({ limit: 4, held, extras: [], unrelated: [], reasonOmitted: null });
  expect(judged("limits.tier-concurrency", filled(times(4, (at) => failed(at, 503)))).status).toBe("inconclusive");
  expect(judged("limits.tier-concurrency", filled([...times(3, served), full(3)])).status).toBe("fail");
});

test("a failure that no longer applies is not fixed", () => {
  const now = (status: "pass" | "not-applicable") => [{ id: "a", status, message: "" }];
  const before = new Map([["a", "fail" as const]]);
  expect(checkChanges({ before, now: now("pass") }).fixed).toHaveLength(1);
  expect(checkChanges({ before, now: now("not-applicable") })).toMatchObject({ fixed: [], lost: [{ id: "a" }] });
});
