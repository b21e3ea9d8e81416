import { expect, test } from "vitest";
import { Response } from "../../src/checks/index.ts";
import { Recorder } from "../../src/http/recorder/index.ts";
import { Verdict } from "../../src/judging/index.ts";
import { CHECKS } from "../../suites/index.ts";
import { isCutByUs } from "../../suites/shared/judge/cut-by-us.ts";
import { httpServer } from "../support/judge.ts";

const MIB = 1_024 ** 2;

/** A reply of this many bytes, of which this process keeps this many. */
async function replyOf(bytes: number, maxBodyBytes: number): Promise<Response> {
  await using server = await httpServer((_request, _body, response) => response.end("x".repeat(bytes)));
  await using recorder = new Recorder({ secrets: [] });
  const request = { method: "POST", url: `${server.baseUrl}/chat/completions`, headers: [], body: "{}" };
  const exchange = await recorder.send(request, { bounds: { maxBodyBytes } });
  const requested = {
    endpoint: "chat",
    mode: "non-streaming",
    intent: "valid",
    account: "main",
    inFlight: 1,
  } as const;
  return new Response(exchange, requested, {
    reasonHeader: "X-Service-Error-Code",
    actionHeader: "X-Service-Action",
  } as ConstructorParameters<typeof Response>[2]);
}

test.each([
  ["a whole one", 10_000, MIB, false],
  ["one of which no more could be kept", 100_000, 8_192, true],
  ["one that is longer than any usual reply", 3 * MIB, 2 * MIB, true],
])("a reply that we truncated: %s", async (_, bytes, kept, expected) => {
  expect(isCutByUs(await replyOf(bytes, kept))).toBe(expected);
});

test("replies that could not be kept completely do not count as failed requests", async () => {
  const check = CHECKS.find(({ id }) => id === "robustness.stable-service");
  const whole = await replyOf(10_000, MIB);
  const responses = [whole, ...(await Promise.all(Array.from({ length: 6 }, () => replyOf(100_000, 8_192))))];
  const verdict = new Verdict();
  (check as unknown as { judge: (responses: readonly Response[], verdict: Verdict) => void }).judge(responses, verdict);
  expect(verdict.findings.filter(({ outcome }) => outcome === "broken")).toEqual([]);
});
