import { describe, expect, test } from "vitest";
import { Undecided, Verdict } from "../../src/judging/index.ts";
import { receivedBody } from "../../suites/upstream/tools/received.ts";
import { judged, seen } from "../support/seen-response.ts";

const denial = seen({ sentMs: 0, endMs: 5, status: 402, reason: "insufficient_balance" });

const used = (parallel: number, served: number, change: object = {}) => ({
  ...{ parallel, inParallel: served, served, denial, failed: 0 },
  ...change,
});

const statusOf = (state: "cappable" | "childSmall", ...levels: readonly (readonly object[])[]) =>
  judged(state === "cappable" ? "spending.cap-parallel" : "spending.budget-parallel", { state, levels }).status;

describe("limits that parallel requests use up", () => {
  test("are judged by what more than one request in parallel is served", () => {
    expect(statusOf("childSmall", [used(1, 20)], [used(16, 20)])).toBe("pass");
    expect(statusOf("childSmall", [used(1, 20)], [used(16, 10)])).toBe("warn");
    // One request at a time says nothing about the rest that parallel ones leave unusable.
    expect(statusOf("childSmall", [used(1, 20), used(1, 14), used(1, 14)], [used(16, 16)])).toBe("pass");
  });

  test("do not apply without a level above one, and an empty level is skipped", () => {
    expect(statusOf("childSmall", [used(1, 20)])).toBe("not-applicable");
    expect(statusOf("childSmall", [used(1, 20)], [])).toBe("not-applicable");
    expect(statusOf("childSmall", [used(1, 20)], [], [used(16, 20)])).toBe("pass");
  });

  test("the tally of a cap may lag while its requests are sent one at a time", () => {
    const levels = [[used(1, 40), used(1, 40), used(1, 20)], [used(16, 20)]];
    expect(statusOf("cappable", ...levels)).toBe("pass");
    expect(statusOf("childSmall", ...levels)).toBe("warn");
    expect(statusOf("cappable", [used(1, 40)], [used(16, 20)])).toBe("warn");
  });

  test("a key whose requests fail is not one that was never denied", () => {
    expect(statusOf("childSmall", [used(1, 20)], [used(16, 20, { denial: null })])).toBe("warn");
    expect(statusOf("childSmall", [used(1, 20)], [used(16, 20, { denial: null, failed: 6 })])).toBe("inconclusive");
  });
});

describe("a request that reached no provider", () => {
  const statusFor = (response: ReturnType<typeof seen>) => {
    try {
      receivedBody({ marker: "m", response, upstream: { nowMs: 0, requests: [], ourKeys: 0 } }, new Verdict());
      return "decided";
    } catch (error) {
      if (!(error instanceof Undecided)) throw error;
      return error.status;
    }
  };

  test.each<[string, Partial<Parameters<typeof seen>[0]>, string]>([
    ["a refusal of the request", { status: 400 }, "not-applicable"],
    ["a refusal that does not name a limit", { status: 422 }, "not-applicable"],
    ["a rate limit", { status: 429, reason: "rate_limit_exceeded" }, "inconclusive"],
    ["a rate limit without a reason", { status: 429 }, "inconclusive"],
    ["a failure of the gateway", { status: 503 }, "inconclusive"],
    ["a reset", { hasResponse: false }, "inconclusive"],
    ["a refusal that was cut off", { status: 400, isCut: true }, "inconclusive"],
    ["a reply of something else", { status: 200 }, "inconclusive"],
  ])("%s", (_what, response, status) => {
    expect(statusFor(seen({ sentMs: 0, endMs: 5, ...response }))).toBe(status);
  });
});
