// real-time: checks fill the limits of a minute and wait for Retry-After
import { expect, test } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { instancesOf } from "../../src/checks/index.ts";
import { ReplyTimes } from "../../src/checks/traffic/reply-times.ts";
import { CHECKS } from "../../suites/index.ts";
import { wasAtLimit } from "../../suites/limits/concurrency/in-flight.ts";
import { seen } from "../support/seen-response.ts";

const repliesAfter = (durationMs: number) => {
  const times = new ReplyTimes();
  for (let at = 0; at < 3; at++) times.note(seen({ sentMs: at, endMs: at + durationMs, intent: "valid", text: REPLY }));
  return times;
};
const REPLY = '{"choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}';

test("the longer replies take, the more requests are in flight, up to a bound", () => {
  expect(new ReplyTimes().parallelFactor).toBe(1);
  expect(repliesAfter(20).parallelFactor).toBe(1);
  expect(repliesAfter(600).parallelFactor).toBe(4);
  expect(repliesAfter(5_000).parallelFactor).toBe(8);
  const plan = { requests: 800, durationS: 12 };
  expect(repliesAfter(5).durationS(plan)).toBe(13);
  // 800 requests of 2 s, 96 concurrently, and the longest series of 15.
  expect(repliesAfter(2_000).durationS(plan)).toBe(47);
});

test("a request is in flight before the first byte of its reply", () => {
  const held = [seen({ sentMs: 0, endMs: 4_000, mode: "streaming" })];
  const extra = (sentMs: number) => seen({ sentMs, endMs: sentMs + 5, status: 429 });
  expect(wasAtLimit(extra(100), held)).toBe(false);
  expect(wasAtLimit(extra(1_600), held)).toBe(true);
  expect(wasAtLimit(extra(4_100), held)).toBe(false);
});

/** Checks that need requests in flight while others are sent. */
const CONCURRENCY = CHECKS.filter(({ id }) =>
  /^limits\.concurrency-(?:enforced|exact|held|running-unaffected|denial|shared-by-keys|shared-by-kinds|other-account|released|abandoned)$/.test(
    id,
  ),
).flatMap(instancesOf);

test("with a first byte after two seconds, concurrency limits are judged as with a fast gateway", {
  timeout: 180_000,
}, async () => {
  expect(CONCURRENCY).toHaveLength(10);
  const { results } = await judgeGateway({
    variants: ["latency.two-seconds"],
    instances: CONCURRENCY,
    isQuick: true,
  });
  const undecided = results.filter(({ status }) => status !== "pass");
  expect(undecided.map(({ id, status, message }) => `${id} ${status}: ${message}`)).toEqual([]);
});
