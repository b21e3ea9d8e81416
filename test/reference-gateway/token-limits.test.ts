// real-time: checks fill the limits of a minute and wait for Retry-After
import { describe, expect, test } from "vitest";
import {
  fixedTokens,
  rollingTokens,
  type TokenLimiter,
  tokensInBucket,
} from "../../src/reference-gateway/limiters/token-limiter.ts";
import type { Reply } from "./support/client.ts";
import { type Fixture, startFixture } from "./support/gateway-fixture.ts";
import { TestClock } from "./support/test-clock.ts";

const S = 1_000_000;
const row = ({ status, headers }: Reply) => `${status} ${headers["x-service-error-code"] ?? ""}`.trim();

/** @returns for each request: "ok", or the seconds it would have to wait. */
function send(limiter: TokenLimiter, requests: readonly (readonly [atS: number, tokens: number])[]) {
  return requests.map(([atS, tokens]) => {
    const waitUs = limiter.waitUs(tokens, atS * S);
    if (waitUs > 0) return Math.round((waitUs / S) * 100) / 100;
    limiter.count(tokens, atS * S);
    return "ok";
  });
}

test.each<[string, TokenLimiter, (readonly [number, number])[], (string | number)[]]>([
  [
    "rolling: each request comes back a minute after it was counted",
    rollingTokens(100),
    [
      [0, 60],
      [10, 40],
      [20, 1],
      [20, 61],
      [59.9, 60],
      [60, 60],
      [60, 40],
    ],
    ["ok", "ok", 40, 50, 0.1, "ok", 10],
  ],
  [
    "rolling: one larger than the limit passes when nothing else counts",
    rollingTokens(100),
    [
      [0, 500],
      [1, 1],
      [60, 500],
    ],
    ["ok", 59, "ok"],
  ],
  [
    "fixed: everything comes back at the edge",
    fixedTokens(100, 30 * S),
    [
      [80, 60],
      [85, 60],
      [89, 40],
      [89.5, 1],
      [90, 100],
    ],
    ["ok", 5, "ok", 0.5, "ok"],
  ],
  [
    "bucket: it comes back evenly",
    tokensInBucket(60),
    [
      [0, 60],
      [0, 10],
      [10, 10],
      [10, 5],
    ],
    ["ok", 10, "ok", 5],
  ],
  [
    "bucket of half the size",
    tokensInBucket(60, 30),
    [
      [0, 30],
      [0, 1],
      [600, 30],
      [600, 1],
    ],
    ["ok", 1, "ok", 1],
  ],
])("%s", (_name, limiter, requests, expected) => {
  expect(send(limiter, requests)).toEqual(expected);
});

test.each<[string, TokenLimiter]>([
  ["rolling", rollingTokens(100)],
  ["fixed", fixedTokens(100, 0)],
  ["bucket", tokensInBucket(100)],
])("%s: returned tokens are available immediately", (_name, limiter) => {
  const counted = limiter.count(80, S);
  expect([limiter.remaining(S), limiter.waitUs(30, S) > 0]).toEqual([20, true]);
  counted.tokens = 50;
  expect([limiter.remaining(S), limiter.waitUs(30, S)]).toEqual([50, 0]);
});

/** A request of 41 prompt tokens whose reply uses its maximum, 40. */
const LARGE = { messages: [{ role: "user", content: "word ".repeat(40) }], max_tokens: 40 };
const keyOf = ({ ready }: Fixture) => ready.tokenLimits?.key ?? "";
const remainingOf = ({ headers }: Reply) => Number(headers["x-ratelimit-remaining-tokens"]);

describe("an account with a limit on tokens", () => {
  test("is denied when its tokens are used up, in both dialects, streaming and not; with the wait", async () => {
    const clock = new TestClock();
    await using fixture = await startFixture({ clock, tokens: { perMinute: 400 } });
    const key = keyOf(fixture);
    const kinds = [
      () => fixture.chat(LARGE, { key }),
      () => fixture.chat({ ...LARGE, stream: true }, { key }),
      () => fixture.messages(LARGE, { key }),
      () => fixture.messages({ ...LARGE, stream: true }, { key }),
    ];
    const served: Reply[] = [];
    for (const kind of kinds) served.push(await kind());
    expect(served.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(served.map(remainingOf)).toEqual([319, 238, 157, 76]);
    clock.pass(15_300);
    for (const kind of kinds) {
      const denied = await kind();
      expect([row(denied), denied.headers["retry-after"], remainingOf(denied)]).toEqual([
        "429 rate_limit_exceeded",
        "45",
        76,
      ]);
    }
    clock.pass(45_000);
    for (const kind of kinds) expect((await kind()).status).toBe(200);
  });

  test.each([
    ["total", 4],
    ["prompt", 9],
    ["reserved", 2],
  ] as const)("counting %s: tokens that were reserved for a reply and not used", async (counts, expected) => {
    await using fixture = await startFixture({ tokens: { perMinute: 400, counts } });
    // 41 tokens in, 20 out, and 100 more that were reserved for the reply.
    const request = { ...LARGE, model: "slow", max_tokens: 120 };
    let served = 0;
    while ((await fixture.chat(request, { key: keyOf(fixture) })).status === 200) served += 1;
    expect(served).toBe(expected);
  });

  test("gets back what a failed request had reserved", async () => {
    await using fixture = await startFixture({ tokens: { perMinute: 400 } });
    const key = keyOf(fixture);
    await fixture.chat({ ...LARGE, model: "fail-500", max_tokens: 300 }, { key });
    expect(remainingOf(await fixture.chat(LARGE, { key }))).toBe(319);
  });

  test("admits no more if requests arrive together", async () => {
    await using fixture = await startFixture({ clock: new TestClock(), tokens: { perMinute: 400 } });
    const replies = await Promise.all(Array.from({ length: 8 }, () => fixture.chat(LARGE, { key: keyOf(fixture) })));
    expect(replies.filter(({ status }) => status === 200).length).toBe(4);
  });
});

test("without the option no account has such a limit, and no response mentions it", async () => {
  await using fixture = await startFixture();
  expect(fixture.ready.tokenLimits).toBeUndefined();
  const { headers } = await fixture.chat({ max_tokens: 100_000 }, { key: fixture.ready.keys.other });
  expect(Object.keys(headers).filter((name) => name.includes("token"))).toEqual([]);
});
