import { describe, expect, test } from "vitest";
import type { Session } from "../../src/checks/index.ts";
import { Undecided, Verdict } from "../../src/judging/index.ts";
import { exhaust } from "../../suites/spending/parallel.ts";
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

/** A session with a key that pays for `limit` requests. Each also holds `held` until `releaseMs` after its reply. */
function sessionWith({ limit, held, releaseMs }: Record<"limit" | "held" | "releaseMs", number>): Session {
  let [nowMs, spent] = [0, 0];
  let releases: number[] = [];
  const start = () => {
    releases = releases.filter((atMs) => atMs > nowMs);
    const isServed = spent + (releases.length + 1) * held < limit;
    if (isServed) {
      spent++;
      releases.push(nowMs + releaseMs);
    }
    const response = seen({ sentMs: nowMs, endMs: nowMs, ...(isServed ? { status: 200 } : SPENT) });
    return { done: Promise.resolve(response) };
  };
  const wait = async (ms: number) => {
    nowMs += ms;
  };
  return { start, wait, target: {}, fixtures: { freshKey: async () => "key" } } as unknown as Session;
}

const SPENT = { status: 402, reason: "insufficient_credits" };

describe("what a key pays for", () => {
  const served = async (key: Record<"limit" | "held" | "releaseMs", number>, affordable?: number) =>
    (await exhaust(sessionWith(key), { state: "childSmall", parallel: affordable ? 16 : 1, affordable }))?.served;

  test("is counted until two denials in a row, because the charge that a request reserves may be released late", async () => {
    expect(await served({ limit: 20, held: 7, releaseMs: 0 })).toBe(13);
    expect(await served({ limit: 20, held: 7, releaseMs: 700 })).toBe(13);
    expect(await served({ limit: 20, held: 1, releaseMs: 700 })).toBe(19);
  });

  test("is retried after a burst until most of it is served, or for 30 s", async () => {
    expect(await served({ limit: 20, held: 7, releaseMs: 2_000 }, 13)).toBe(11);
    expect(await served({ limit: 20, held: 7, releaseMs: 90_000 }, 13)).toBe(2);
    // The 30 s begin again with each request that is served.
    expect(await served({ limit: 100, held: 40, releaseMs: 700 })).toBe(60);
    expect(await served({ limit: 100, held: 40, releaseMs: 700 }, 60)).toBe(51);
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
