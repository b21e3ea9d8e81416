import { expect, test } from "vitest";
import { thresholdNeeds } from "../../../src/load/analysis/threshold-needs.ts";
import { readThresholds } from "../../../src/load/analysis/thresholds.ts";
import type { RequestClass, Workload } from "../../../src/load/workload/workload.ts";

const PLAIN: RequestClass = { dialect: "chat", stream: false, promptTokens: 20, maxTokens: 20, weight: 3 };
const STREAM: RequestClass = { ...PLAIN, stream: true, weight: 1 };

/** What is said about thresholds of a workload with this many requests. */
function said(written: readonly string[], requests: number, mix: readonly RequestClass[] = [PLAIN, STREAM]) {
  const arrivals = { kind: "constant", ratePerS: requests / 10, durationS: 10 } as const;
  return thresholdNeeds({ arrivals, mix, thresholds: readThresholds(written) } as unknown as Workload);
}

test("a threshold that needs more requests than the workload sends is named before anything is sent", () => {
  expect(said(["failed < 0.5 %", "ttft_ms p99 < 800", "response_ms p50 < 800", "failed < 20"], 240)).toEqual([
    'threshold "failed < 0.5 %" needs at least 770 requests to be met, but the workload sends only about 240, so the threshold can only be crossed or remain undecided',
    'threshold "ttft_ms p99 < 800" needs at least 368 requests of each kind to be met, but the workload sends only about 60, so the threshold can only be crossed or remain undecided',
  ]);
  expect(said(["failed < 0.5 %", "ttft_ms p99 < 800"], 1_800)).toEqual([]);
  expect(said(["admitted > 99 %"], 100)).toEqual([expect.stringContaining("at least 390 requests")]);
});

test("only requests that a threshold is about count", () => {
  expect(said(["response_ms{stream=false} p95 < 800"], 130)).toEqual([]);
  expect(said(["response_ms{stream=true} p95 < 800"], 100)).toEqual([expect.stringContaining("sends only about 25,")]);
});

test("a latency that none of the requests has is refused", () => {
  expect(() => said(["ttft_ms p50 < 800"], 240, [PLAIN])).toThrow(
    '"ttft_ms p50 < 800" cannot be measured: it applies only to streams, and no request in the mix is a stream',
  );
  expect(() => said(["ttft_ms{stream=false} p50 < 800"], 240)).toThrow("cannot be measured");
  expect(() => said(["response_ms{dialect=messages,stream=true} p50 < 800"], 240)).toThrow(
    "matches no requests: no class in the mix has dialect=messages, stream=true",
  );
});

test("a number of requests that may by chance be too few is named, if it is random", () => {
  expect(said(["response_ms{stream=false} p95 < 800"], 100)).toEqual([
    'threshold "response_ms{stream=false} p95 < 800" needs at least 72 requests of each kind to be met; the workload sends about 75 on average, so a run may send too few',
  ]);
  expect(said(["response_ms p95 < 800"], 75, [PLAIN])).toEqual([]);
  // All requests count, whatever their kind.
  expect(said(["failed < 0.5 %"], 780)).toEqual([]);
});
