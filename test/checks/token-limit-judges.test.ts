import { describe, expect, test } from "vitest";
import { instancesOf, type Recordable, Response, resultOf } from "../../src/checks/index.ts";
import type { Exchange } from "../../src/http/recorder/index.ts";
import {
  fixedTokens,
  rollingTokens,
  type TokenLimiter,
  tokensInBucket,
} from "../../src/reference-gateway/limiters/token-limiter.ts";
import { CHECKS } from "../../suites/index.ts";
import type { Part } from "../../suites/token-limits/part.ts";
import type { TokenRecording } from "../../suites/token-limits/scenario.ts";

const LIMIT = 4_000;
const RULES = { reasonHeader: "x-service-error-code", actionHeader: "x-service-action" };
const REMAINING = "x-left";

interface Sent {
  readonly atMs: number;
  readonly status?: number;
  readonly reason?: string;
  readonly usage?: object | undefined;
  readonly remaining?: number | string | undefined;
  readonly retryAfter?: string;
  readonly stream?: boolean;
}

let made = 0;

/** One response, 5 ms after its request. */
function response({ atMs, status = 200, reason, usage, remaining, retryAfter, stream = false }: Sent): Response {
  const body = status === 200 ? { choices: [{ message: { content: "a" } }], usage } : { error: { message: "no" } };
  const text = JSON.stringify(body);
  const headers: [string, string][] = [["Content-Type", "application/json"]];
  if (reason !== undefined) headers.push(["X-Service-Error-Code", reason]);
  if (remaining !== undefined) headers.push([REMAINING, String(remaining)]);
  if (retryAfter !== undefined) headers.push(["Retry-After", retryAfter]);
  const us = atMs * 1_000;
  const exchange: Exchange = {
    id: `x${String(++made).padStart(5, "0")}`,
    startedAtMs: atMs,
    request: { method: "POST", url: "http://g/v1/chat/completions", headers: [], body: "{}", bodyBytes: 2 },
    key: "tokenLimits.key",
    connection: { id: "c1", earlier: 0 },
    timeline: { dueUs: us, sentUs: us, firstByteUs: us + 4_000, headersUs: us + 4_000, endUs: us + 5_000 },
    response: {
      status,
      headers,
      interim: [],
      trailers: [],
      body: {
        text,
        base64: undefined,
        bytes: text.length,
        receivedBytes: text.length,
        reads: 1,
        pieces: [[us + 5_000, text.length]],
        decodeError: undefined,
      },
    },
    ending: { kind: "complete" },
    ownLagMs: 0,
    afterwards: undefined,
    redactions: [],
  };
  const requested = { endpoint: "chat", intent: "any", account: "tokenLimits", inFlight: 1 } as const;
  return new Response(exchange, { ...requested, mode: stream ? "streaming" : "non-streaming" }, RULES);
}

interface Series {
  /** `undefined`: no limit. */
  readonly limiter?: TokenLimiter | undefined;
  readonly atMs?: number;
  readonly everyMs?: number;
  readonly count?: number;
  /** Tokens that a request may take; half of them its prompt. */
  readonly most?: number;
  /** Share of the maximum output that a reply uses. */
  readonly said?: number;
  readonly stops?: boolean;
  /** What the response reports as remaining. */
  readonly stated?: (remaining: number) => number | string | undefined;
  readonly usage?: boolean;
}

/** Requests of one size to a gateway that reserves the maximum output and refunds the unused part. */
function series(options: Series): Part {
  const {
    limiter,
    atMs = 0,
    everyMs = 10,
    count = 18,
    most = LIMIT / 8,
    said = 1,
    stops = true,
    usage = true,
  } = options;
  const { stated = (remaining: number) => remaining } = options;
  const prompt = most / 2;
  const completion = Math.floor((most / 2) * said);
  const responses: Response[] = [];
  for (let at = 0; at < count; at++) {
    const nowMs = atMs + at * everyMs;
    const waitUs = limiter?.waitUs(most, nowMs * 1_000) ?? 0;
    if (waitUs > 0) {
      const retryAfter = String(Math.ceil(waitUs / 1_000_000));
      const remaining = stated(limiter?.remaining(nowMs * 1_000) ?? 0);
      responses.push(response({ atMs: nowMs, status: 429, reason: "rate_limit_exceeded", retryAfter, remaining }));
      if (stops) break;
      continue;
    }
    const counted = limiter?.count(most, nowMs * 1_000);
    const remaining = stated(limiter?.remaining(nowMs * 1_000) ?? 0);
    if (counted !== undefined) counted.tokens = prompt + completion;
    const tokens = usage ? { prompt_tokens: prompt, completion_tokens: completion } : undefined;
    responses.push(response({ atMs: nowMs, remaining, usage: tokens }));
  }
  const size = { words: 9, maxTokens: most / 2, least: prompt + completion, most };
  return { responses, ...size, seconds: (responses.length * everyMs) / 1_000 };
}

const START_MS = 1_000_000;
/** From the concurrent requests to the sequential ones. */
const QUIET_MS = 130_000;

/** The scenario's recording of a gateway with a limiter, with some parts replaced. */
function recording(limiter: TokenLimiter | undefined, change: Partial<TokenRecording> = {}): TokenRecording {
  return {
    tokens: {
      tokensPerMinute: LIMIT,
      counts: "total",
      window: null,
      inFlightTokens: 0,
      remainingHeaders: [REMAINING],
    },
    expected: { reason: "rate_limit_exceeded", status: 429, readAs: "rate_limit_exceeded", actionHint: true },
    probes: series({ limiter, atMs: START_MS, count: 1, most: LIMIT / 20 }),
    atOnce: [series({ limiter, atMs: START_MS + 100, everyMs: 0, count: 8, most: LIMIT / 4, stops: false })],
    whileDenied: [],
    wait: null,
    inARow: [series({ limiter, atMs: START_MS + QUIET_MS })],
    evenly: null,
    ...change,
  };
}

function judge(id: string, recorded: TokenRecording) {
  const check = CHECKS.find((candidate) => candidate.id === `token-limits.${id}`);
  const [instance] = check === undefined ? [] : instancesOf(check);
  if (instance === undefined) throw new Error(`no check token-limits.${id}`);
  return resultOf(instance, recorded as Recordable, { attestations: [], durationMs: 1 });
}

const statusOf = (id: string, recorded: TokenRecording) => judge(id, recorded).status;

const denied = (atMs: number, more: Partial<Sent> = {}) =>
  response({ atMs, status: 429, reason: "rate_limit_exceeded", retryAfter: "20", ...more });
const served = (atMs: number) => response({ atMs, usage: { prompt_tokens: 500, completion_tokens: 500 } });
const even = (limiter: TokenLimiter) =>
  series({ limiter, atMs: START_MS + 2 * QUIET_MS, everyMs: 3_750, count: 16, most: LIMIT / 24, stops: false });

describe("conformant limits pass", () => {
  const crossing = (): TokenLimiter => {
    const exact = rollingTokens(LIMIT);
    return { ...exact, waitUs: (_tokens, nowUs) => exact.waitUs(1, nowUs) };
  };
  test.each<[string, TokenLimiter]>([
    ["a rolling window", rollingTokens(LIMIT)],
    ["a fixed window", fixedTokens(LIMIT, START_MS * 1_000)],
    [
      "a fixed window whose edge lies between concurrent requests and the next ones",
      fixedTokens(LIMIT, (START_MS + 101) * 1_000),
    ],
    ["a bucket", tokensInBucket(LIMIT)],
    ["one that lets the request pass that crosses it", crossing()],
  ])("%s", (_name, limiter) => {
    const recorded = recording(limiter);
    for (const id of ["enforced", "at-once", "not-early", "denial", "remaining"])
      expect([id, statusOf(id, recorded)]).toEqual([id, "pass"]);
  });

  test("a bucket of half the size is denied early in a row, and not by even requests", () => {
    const limiter = tokensInBucket(LIMIT, LIMIT / 2);
    const recorded = recording(limiter);
    expect(statusOf("not-early", recorded)).toBe("inconclusive");
    expect(statusOf("not-early", { ...recorded, evenly: even(limiter) })).toBe("pass");
  });

  test("short replies: the tokens that they were allowed were reserved", () => {
    const row = series({ limiter: rollingTokens(LIMIT), atMs: START_MS + QUIET_MS, said: 0.1, count: 40 });
    for (const id of ["enforced", "not-early", "remaining"])
      expect([id, statusOf(id, recording(rollingTokens(LIMIT), { inARow: [row] }))]).toEqual([id, "pass"]);
  });

  test("the edge of a fixed window inside a series explains an excess once, and never for a rolling window", () => {
    const over = series({ limiter: fixedTokens(LIMIT, (START_MS + QUIET_MS + 45) * 1_000), atMs: START_MS + QUIET_MS });
    const usual = series({ limiter: rollingTokens(LIMIT), atMs: START_MS + 2 * QUIET_MS });
    const recorded = recording(rollingTokens(LIMIT), { inARow: [over, usual] });
    expect(statusOf("enforced", recorded)).toBe("pass");
    expect(statusOf("enforced", { ...recorded, inARow: [over, over] })).toBe("fail");
    const rolling = { ...recorded, tokens: { ...recorded.tokens, window: "rolling" as const } };
    expect(statusOf("enforced", rolling)).toBe("fail");
  });
});

describe("limits that are not enforced", () => {
  const twice = (make: (atMs: number) => Part) => [make(START_MS + QUIET_MS), make(START_MS + 2 * QUIET_MS)];

  test("none at all, or twice the limit", () => {
    for (const limiter of [undefined, rollingTokens(LIMIT * 2)]) {
      const row = twice((atMs) => series({ limiter, atMs }));
      const result = judge("enforced", recording(undefined, { inARow: row }));
      expect([result.status, result.violated]).toEqual(["fail", ["TOKENS-ENFORCED"]]);
    }
  });

  test("simultaneous requests are all admitted: a failure if nothing may be in flight beyond the limit", () => {
    const all = twice((atMs) => series({ atMs: atMs + 3 * QUIET_MS, everyMs: 0, count: 8, most: LIMIT / 4 }));
    const recorded = recording(rollingTokens(LIMIT), { atOnce: all });
    expect(statusOf("at-once", recorded)).toBe("fail");
    const declared = (inFlightTokens: number | null) => ({
      ...recorded,
      tokens: { ...recorded.tokens, inFlightTokens },
    });
    expect(statusOf("at-once", declared(LIMIT))).toBe("pass");
    expect(statusOf("at-once", declared(null))).toBe("observed");
    expect(statusOf("enforced", recorded)).toBe("pass");
  });

  test("one kind of request is not counted: it is served between two denials; a single request proves nothing", () => {
    const tried = (tries: Response[]) => ({ kind: "chat, streaming", before: denied(1), tries, after: denied(9) });
    const of = (tries: Response[]) =>
      statusOf("enforced", recording(rollingTokens(LIMIT), { whileDenied: [tried(tries)] }));
    expect(of([served(2), served(3)])).toBe("fail");
    expect(of([served(2), denied(3)])).toBe("pass");
  });

  test("half of the limit: evenly spaced requests are denied too", () => {
    const limiter = rollingTokens(LIMIT / 2);
    const recorded = recording(limiter);
    const result = judge("not-early", { ...recorded, evenly: even(limiter) });
    expect([result.status, result.violated]).toEqual(["fail", ["TOKENS-NOT-EARLY"]]);
  });
});

describe("what denials say", () => {
  test("status and reason are those of the request rate, or of the target's contract", () => {
    const part = (more: Partial<Sent>): Part => ({ ...series({ count: 1 }), responses: [denied(0, more)] });
    const of = (more: Partial<Sent>, change: Partial<TokenRecording["expected"]> = {}) => {
      const recorded = recording(rollingTokens(LIMIT), { inARow: [part(more)] });
      return statusOf("denial", { ...recorded, expected: { ...recorded.expected, ...change } });
    };
    expect(of({})).toBe("pass");
    expect(of({ status: 402 })).toBe("fail");
    expect(of({ reason: "tokens_exceeded" })).toBe("fail");
    expect(of({ reason: "quota_exceeded" })).toBe("fail");
    // A provider's failure is not a denial.
    expect(of({ status: 503, reason: "upstream_error" })).toBe("pass");
  });

  test("Retry-After is present and sufficient", () => {
    const of = (wait: TokenRecording["wait"]) => statusOf("retry-after", recording(rollingTokens(LIMIT), { wait }));
    expect(of(null)).toBe("inconclusive");
    expect(of({ denial: denied(0), waitMs: 20_000, retried: served(20_001) })).toBe("pass");
    expect(of({ denial: denied(0), waitMs: 20_000, retried: denied(20_001) })).toBe("warn");
    expect(of({ denial: response({ atMs: 0, status: 429 }), waitMs: null, retried: served(61_000) })).toBe("warn");
  });

  test.each<[string, Series["stated"], string]>([
    ["as it is", undefined, "pass"],
    ["the whole limit, always", () => LIMIT, "warn"],
    ["as if the limit were twice as high", (remaining) => remaining + LIMIT, "warn"],
    ["nothing, always", () => 0, "warn"],
    ["a word", () => "many", "warn"],
    ["not at all", () => undefined, "warn"],
  ])("remaining tokens are stated: %s", (_name, stated, status) => {
    const row = series({ limiter: rollingTokens(LIMIT), atMs: START_MS + QUIET_MS, ...(stated && { stated }) });
    expect(statusOf("remaining", recording(rollingTokens(LIMIT), { inARow: [row] }))).toBe(status);
  });

  test("without a declared header, remaining tokens are not judged", () => {
    const recorded = recording(rollingTokens(LIMIT));
    const tokens = { ...recorded.tokens, remainingHeaders: [] };
    expect(statusOf("remaining", { ...recorded, tokens })).toBe("not-applicable");
  });
});

describe("what cannot be judged is not judged", () => {
  const ALL = ["enforced", "at-once", "not-early", "denial", "retry-after", "remaining"];

  test.each<[string, Partial<TokenRecording>, RegExp]>([
    ["replies without usage", { probes: series({ count: 1, usage: false }) }, /state no token counts/],
    ["a limit that is too small", { probes: series({ count: 1, most: LIMIT / 4 }) }, /too small to be tested/],
    [
      "a first request that is refused",
      { probes: { ...series({ count: 1 }), responses: [response({ atMs: 0, status: 503 })] } },
      /not served: 503/,
    ],
  ])("%s", (_name, change, message) => {
    for (const id of ALL) {
      const result = judge(id, recording(rollingTokens(LIMIT), change));
      expect([id, result.status, result.message]).toEqual([id, "inconclusive", expect.stringMatching(message)]);
    }
  });

  test("too few tokens to reach the limit, and one request in flight", () => {
    const few = series({ atMs: START_MS + QUIET_MS, count: 5 });
    const recorded = recording(rollingTokens(LIMIT), { inARow: [few] });
    expect([statusOf("enforced", recorded), statusOf("not-early", recorded)]).toEqual(["inconclusive", "inconclusive"]);
    const alone = recording(rollingTokens(LIMIT), { atOnce: [series({ count: 1 })] });
    expect(statusOf("at-once", alone)).toBe("inconclusive");
  });
});
