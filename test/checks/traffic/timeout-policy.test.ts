import { describe, expect, test } from "vitest";
import { TimeoutPolicy } from "../../../src/checks/traffic/timeout-policy.ts";
import type { Exchange } from "../../../src/http/recorder/index.ts";

const TIMEOUTS = { responseMs: 60_000, idleMs: 20_000 };
const KIND = "non-streaming good";
const boundsAfter = (policy: TimeoutPolicy) => policy.boundsFor(KIND, { intent: "valid", endpoint: "chat" });

type Noted = Pick<Exchange, "ending" | "request" | "response">;

function noted(kind: Exchange["ending"]["kind"], { method = "POST", bytes = 0, pieces = 0 } = {}): Noted {
  const body = {
    text: "",
    base64: undefined,
    bytes,
    receivedBytes: bytes,
    reads: pieces,
    pieces: Array.from({ length: pieces }, (_, at) => [at, 1] as const),
    decodeError: undefined,
  };
  return {
    ending: { kind },
    request: { method, url: "http://g/v1/x", headers: [], body: undefined, bodyBytes: 0 },
    response: { status: 200, headers: [], interim: [], trailers: [], body },
  };
}

function policyAfter(exchanges: readonly (readonly [count: number, exchange: Noted, kind?: string])[]): TimeoutPolicy {
  const policy = new TimeoutPolicy(() => TIMEOUTS);
  for (const [count, exchange, kind = KIND] of exchanges)
    for (let at = 0; at < count; at++) policy.note(kind, exchange);
  return policy;
}

describe("how long a request may take", () => {
  const hung = noted("deadline");
  const ended = noted("complete");
  test.each<[why: string, exchanges: [number, Noted, string?][], deadlineMs: number, idleMs: number]>([
    ["nothing has hung", [[500, ended]], 60_000, 20_000],
    ["two of a kind: they may be an accident", [[2, hung]], 60_000, 20_000],
    [
      "three of its kind hung",
      [
        [3, hung],
        [40, ended],
      ],
      6_000,
      3_000,
    ],
    [
      "three of another kind did",
      [
        [3, hung, "streaming denied"],
        [40, ended],
      ],
      60_000,
      20_000,
    ],
    [
      "many hang, and others do not",
      [
        [70, hung],
        [400, ended],
      ],
      2_500,
      1_200,
    ],
    ["sixteen hung and nothing ever ended, whatever its kind", [[16, hung, "streaming denied"]], 1_000, 600],
    [
      "a list of models that ends says nothing of replies",
      [
        [16, hung],
        [9, noted("complete", { method: "GET" })],
      ],
      1_000,
      600,
    ],
    ["sixty hung and nothing ended", [[60, hung]], 400, 300],
    [
      "of sixty-three all but three hung",
      [
        [60, hung],
        [3, ended],
      ],
      2_500,
      1_200,
    ],
  ])("%s", (_why, exchanges, deadlineMs, idleMs) => {
    expect(boundsAfter(policyAfter(exchanges))).toMatchObject({ deadlineMs, idleMs });
  });
});

describe("how much of all responses is kept", () => {
  test("the more pieces have arrived, the fewer of one response are kept apart; a new round starts over", () => {
    const few = boundsAfter(policyAfter([[1_000, noted("complete", { pieces: 20 })]])).maxPieces ?? 0;
    const policy = policyAfter([[200, noted("complete", { pieces: 3_000 })]]);
    // Twelve times as long as the longest streams of the checks.
    expect(few).toBeGreaterThan(3_000);
    expect(boundsAfter(policy)).toMatchObject({ maxPieces: 64 });
    policy.forget();
    expect(boundsAfter(policy).maxPieces).toBeGreaterThan(few);
  });

  test("the more bytes have arrived, the fewer one response may have, down to 8 KiB", () => {
    expect(boundsAfter(policyAfter([])).maxBodyBytes).toBe(4 << 20);
    expect(boundsAfter(policyAfter([[64, noted("complete", { bytes: 1 << 20 })]])).maxBodyBytes).toBe(8 << 10);
  });
});

test("two hundred lists of five megabytes leave room for one more if they are all the same", () => {
  const room = (isHeld: boolean) => {
    const policy = new TimeoutPolicy(() => TIMEOUTS);
    for (let at = 0; at < 200; at++)
      policy.note(KIND, noted("complete", { method: "GET", bytes: 5_000_000 }), isHeld && at > 0);
    return policy.boundsFor(KIND, { intent: "valid", endpoint: "models" }).maxBodyBytes;
  };
  expect(room(true)).toBeGreaterThan(10_000_000);
  expect(room(false)).toBeLessThan(1_000_000);
});
