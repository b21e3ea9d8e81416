import { expect, test } from "vitest";
import { policySchema } from "../../src/policy/index.ts";
import { parseThreshold } from "../../src/policy/threshold.ts";

test.each<[text: string, read: object]>([
  [
    "ttft_ms{tier=growth,stream=true} p99 < 800",
    {
      metric: "ttft_ms",
      labels: { tier: "growth", stream: "true" },
      stat: "p99",
      operator: "<",
      bound: { kind: "number", value: 800 },
    },
  ],
  [
    "retry_after_sufficient{reason=rate_limit_exceeded} >= 0.99",
    { metric: "retry_after_sufficient", stat: undefined, operator: ">=" },
  ],
  ["denied{phase=at-limit} == 0", { operator: "==", bound: { kind: "number", value: 0 } }],
  [
    '  response_ms { dialect = "chat" , stream=true }  p50<=1e3 ',
    { text: "response_ms{dialect=chat,stream=true} p50 <= 1e3" },
  ],
  ["ttft_ms p99 <= baseline * 1.1 + 5", { bound: { kind: "baseline", factor: 1.1, offset: 5 } }],
  ["admitted_per_s >= baseline - 2", { bound: { kind: "baseline", factor: 1, offset: -2 } }],
  // As k6 and other tools write percentiles.
  ["ttft_ms p(95) < 800", { stat: "p95", text: "ttft_ms p95 < 800" }],
  ["ttft_ms p99.9 < 800", { stat: "p999", text: "ttft_ms p999 < 800" }],
  ["ttft_ms p(99.9)<800", { stat: "p999" }],
  ["ttft_ms p(95.0) < 800", { stat: "p95" }],
  // A gateway may have its own reasons; phases, tiers and gateways may have any name.
  ["denied{reason=upstream_busy,phase=soak,tier=mine} == 0", { labels: { reason: "upstream_busy" } }],
  ["failed < 0.5 %", { metric: "failed_share", text: "failed < 0.5 %", bound: { kind: "number", value: 0.005 } }],
  ["goodput > 95%", { metric: "goodput_share", bound: { kind: "number", value: 0.95 } }],
  ["ttft_ms p99 < baseline", { bound: { kind: "baseline", factor: 1, offset: 0 } }],
])("%s", (text, read) => {
  expect(parseThreshold(text)).toMatchObject(read);
});

test.each<[text: string, says: RegExp]>([
  ["", /is not a threshold/],
  ["ttft_ms p99", /is not a threshold/],
  ["ttft_ms p99 < 3 %", /"ttft_ms" is not a share/],
  ["goodput > 3", /unknown metric "goodput"/],
  ["tftf_ms p99 < 3", /unknown metric "tftf_ms"/],
  ["ttft p99 < 3", /unknown metric "ttft"\. Did you mean "ttft_ms"\?/],
  ["respons_ms p99 < 3", /Did you mean "response_ms"\?/],
  ["ttft_ms < 3", /needs a statistic/],
  ["ttft_ms p94 < 3", /unknown statistic "p94"/],
  ["ttft_ms p(99.5) < 3", /unknown statistic "p\(99\.5\)"/],
  ["ttft_ms p9.5 < 3", /unknown statistic "p9\.5"/],
  ["ttft_ms avg < 3", /unknown statistic "avg"; expected one of p50, p90, p95, p99, p999, max/],
  ["denied p99 == 0", /is one figure/],
  ["ttft_ms{reason=x} p99 < 3", /label "reason"/],
  ["ttft_ms{tier=a,tier=b} p99 < 3", /"tier" twice/],
  ["ttft_ms{tier} p99 < 3", /name=value/],
  ["ttft_ms p99 < fast", /bound "fast"/],
  ["ttft_ms p99 < baseline ^ 2", /bound "baseline \^ 2"/],
  ["constructor == 0", /unknown metric "constructor"/],
  ["checks{status=failed} == 0", /unknown value status=failed\. Did you mean "fail"\?/],
  ["checks{layer=spec} == 0", /layer=spec.*Possible values: specification, protocol, compat/],
  ["denied{reason=rate_limit} == 0", /reason=rate_limit.*Did you mean "rate_limit_exceeded"\?/],
  ["denied{reason=budget_exhasted} == 0", /Did you mean "budget_exhausted"\?/],
  ["retry_after_usable{reason=concurrency} == 1", /Did you mean "concurrency_limit_exceeded"\?/],
  ["denied{dialect=Chat} == 0", /dialect=Chat.*Did you mean "chat"\?/],
  ["denied{stream=yes} == 0", /stream=yes.*Possible values: true, false/],
  ["response_ms{outcome=admited} p50 < 1", /Did you mean "admitted"\?/],
  ["overhead.added_ms{concurrency=ten} p50 < 1", /concurrency=ten; expected a whole number/],
  ["overhead.added_ms{prompt_bytes=1k} p50 < 1", /prompt_bytes=1k; expected a whole number/],
])("no threshold: %s", (text, says) => {
  expect(parseThreshold(text)).toMatch(says);
});

test.each<[what: string, gates: unknown[], says: RegExp]>([
  ["the same twice", ["denied == 0", "denied == 0"], /same figure in the same direction as gate 1/],
  [
    "the same with another bound",
    ["ttft_ms p99 < 800", "ttft_ms  p99 <= 900"],
    /same figure in the same direction as gate 1/,
  ],
  [
    "the same with labels in another order",
    ["ttft_ms{tier=a,stream=true} p99 < 1", 'ttft_ms{stream="true",tier=a} p99 < 1'],
    /same figure in the same direction as gate 1/,
  ],
  [
    "the same at another level",
    ["denied == 0", { gate: "denied == 0", level: "warn" }],
    /same figure in the same direction as gate 1/,
  ],
  ["an unknown metric", [{ gate: "nothing == 0" }], /unknown metric/],
  ["an unknown level", [{ gate: "denied == 0", level: "fatal" }], /error.*warn.*off/],
])("a policy file is refused for %s", (_what, gates, says) => {
  const result = policySchema.safeParse({ gates });
  expect(result.success).toBe(false);
  expect(JSON.stringify(result.error?.issues)).toMatch(says);
});

test("a lower and an upper bound of one figure are two gates", () => {
  expect(policySchema.safeParse({ gates: ["denied_share > 0.1", "denied_share < 0.4"] }).success).toBe(true);
});
