// real-time: sends load, and judges how much of it was served in time
import { describe, expect, test } from "vitest";
import { RequestBudget } from "../../../src/budget/index.ts";
import { LoadExchange } from "../../../src/http/load-client/load-exchange.ts";
import { Redactor } from "../../../src/http/recorder/index.ts";
import { DEFAULT_ALLOW, runWorkload, type Sample, type Workload } from "../../../src/load/index.ts";
import { type Retrying, RetryTally } from "../../../src/load/measure/retry-tally.ts";
import { Histogram, histogramLog } from "../../../src/metrics/index.ts";
import { runRecordJsonSchema } from "../../../src/record/index.ts";
import { startGateway } from "../../../src/reference-gateway/index.ts";
import { describeEmbedded, type ReadyLine } from "../../../src/target/index.ts";
import { skipWhereLate } from "../../support/valid-generator.ts";

async function run(workload: Partial<Workload>, gatewayOptions: Parameters<typeof startGateway>[0] = {}) {
  await using gateway = await startGateway({ limits: { rpm: 60_000, inFlight: 500 }, ...gatewayOptions });
  const { target } = describeEmbedded(gateway.ready as unknown as ReadyLine);
  const samples: Sample[] = [];
  const never = new AbortController().signal;
  const key = target.keys.valid;
  const result = await runWorkload(
    {
      name: "w",
      tier: undefined,
      arrivals: { kind: "constant", ratePerS: 100, durationS: 1 },
      mix: [{ dialect: "chat", stream: false, model: "echo-fast", promptTokens: 5, maxTokens: 16, weight: 1 }],
      maxInFlight: undefined,
      warmupS: 0,
      engine: "native",
      retryAfter: "none",
      allow: DEFAULT_ALLOW,
      written: null,
      ...workload,
    },
    {
      target,
      budget: new RequestBudget(target.budget),
      keys: [key],
      seed: 3,
      stop: never,
      abort: never,
      redactor: new Redactor([{ name: "key.valid", value: key.reveal() }]),
      onSample: (sample) => samples.push(sample),
      calibration: null,
    },
  );
  return { ...result, samples, secret: key.reveal() };
}

/** An exchange at a moment of the run with a Retry-After of one second. */
function exchangeAt(atS: number, inFlight: number): LoadExchange {
  const prepared = { dialect: "chat", stream: false, key: "valid", head: "", body: Buffer.alloc(0) };
  const exchange = new LoadExchange(prepared as unknown as LoadExchange["prepared"], atS * 1e6, 0);
  const denial = { sentUs: atS * 1e6, endUs: atS * 1e6 + 1_000, status: 429, inFlight };
  return Object.defineProperties(Object.assign(exchange, denial), {
    retryAfter: { value: "1" },
    retryAfterWaitMs: { value: 1_000 },
  });
}

const stream = {
  dialect: "messages",
  stream: true,
  model: "echo-stream",
  promptTokens: 5,
  maxTokens: 64,
  weight: 1,
} as const;

describe("a workload", () => {
  test("every arrival is counted once, by its outcome", async () => {
    const { run: done, samples, secret } = await run({});
    const [phase] = done.phases;
    expect(phase).toMatchObject({ offered: 100, sent: 100, admitted: 100, denied: 0, failed: 0, dropped: 0 });
    expect(
      phase?.classes.map(({ dialect, stream: streamed, outcome, count }) => [dialect, streamed, outcome, count]),
    ).toEqual([["chat", false, "admitted", 100]]);
    expect(phase?.series.reduce((sum, { admitted }) => sum + admitted, 0)).toBe(100);
    expect(samples.length).toBeGreaterThan(0);
    expect(JSON.stringify(samples)).not.toContain(secret);
    expect(JSON.stringify(samples)).toContain("[key.valid]");
  });

  test("its figures have intervals as far as the sample supports them", async () => {
    const { run: done } = await run({});
    const [phase] = done.phases;
    const { responseMs } = phase?.classes[0] ?? {};
    const [low, high] = responseMs?.intervals?.p50 ?? [];
    expect(low).toBeLessThanOrEqual(responseMs?.p50 ?? Number.NaN);
    expect(high).toBeGreaterThanOrEqual(responseMs?.p50 ?? Number.NaN);
    // A hundred requests have a median and no p99.
    expect(responseMs?.intervals).toMatchObject({ p99: null, p999: null });
    expect(responseMs?.p99).toBeGreaterThan(0);
    expect(phase?.shares).toMatchObject({ admitted: 1, denied: 0, failed: 0 });
    expect(phase?.shares?.intervals.failed).toEqual([0, expect.closeTo(0.037, 3)]);
    const [least, most] = phase?.rates.intervals?.sent ?? [];
    expect(least).toBeLessThanOrEqual(phase?.rates.sent ?? Number.NaN);
    expect(most).toBeGreaterThanOrEqual(phase?.rates.sent ?? Number.NaN);
    expect(phase?.steady).toEqual({ fromS: null, toS: null, kind: "too-short" });
  });

  test("streams: every gap is counted, connections are reused, as many run as requested", async () => {
    const { run: done } = await run(
      { arrivals: { kind: "closed", inFlight: 10, requests: 30, rampS: 0 }, mix: [stream] },
      { pieces: 6, paceMs: 10 },
    );
    const [phase] = done.phases;
    expect(phase).toMatchObject({ sent: 30, admitted: 30, failed: 0, peakInFlight: 10, connections: 10 });
    expect(Math.max(...(phase?.series ?? []).map(({ inFlight }) => inFlight))).toBe(10);
    const [only] = phase?.classes ?? [];
    expect(only?.ttftMs).not.toBeNull();
    expect(only?.eventGapMs).not.toBeNull();
    expect(only?.outputTokens).toBeGreaterThan(30 * 5);
  });

  test("denied, unfinished and failed are separate classes, and fail the run", async (context) => {
    const denied = await run({}, { limits: { rpm: 20, inFlight: 4 } });
    expect(denied.run.phases[0]?.classes.map(({ outcome }) => outcome).sort()).toEqual(["admitted", "denied"]);
    const cut = await run({
      arrivals: { kind: "constant", ratePerS: 10, durationS: 1 },
      mix: [{ ...stream, model: "drop-midstream" }],
    });
    expect(cut.run.phases[0]?.classes.map(({ outcome }) => outcome)).toEqual(["unfinished"]);
    const failed = await run({
      arrivals: { kind: "constant", ratePerS: 10, durationS: 1 },
      mix: [{ ...stream, model: "fail-500" }],
    });
    expect(failed.run.phases[0]?.failures.map(({ what }) => what)).toEqual(["500"]);
    skipWhereLate(context, denied.run);
    expect(denied.run.verdict).toBe("fail");
  });

  test("arrivals beyond the bound are dropped and counted", async () => {
    const { run: done } = await run({
      arrivals: { kind: "burst", size: 20, everyS: 1, durationS: 1 },
      mix: [{ ...stream, model: "echo-stream" }],
      maxInFlight: 5,
    });
    expect(done.phases[0]).toMatchObject({ offered: 20, sent: 5, dropped: 15, peakInFlight: 5 });
  });

  test("compliant clients wait; ignoring ones are counted as early", async () => {
    const crowd = { arrivals: { kind: "closed", inFlight: 4, requests: 6, rampS: 0 }, mix: [stream] } as const;
    const small = { limits: { rpm: 6_000, inFlight: 2 }, pieces: 6, paceMs: 50 };
    const compliant = await run({ ...crowd, retryAfter: "compliant" }, small);
    expect(compliant.run.retryAfter?.client).toMatchObject({ earlySends: 0, forbiddenRetries: 0 });
    expect(compliant.run.retryAfter?.client.retries).toBeGreaterThan(0);
    const ignoring = await run({ ...crowd, retryAfter: "ignoring" }, small);
    expect(ignoring.run.retryAfter?.client.earlySends).toBeGreaterThan(0);
  });

  test("insufficient waits are counted, and decide if nothing else was sent meanwhile", async (context) => {
    const one = { kind: "closed", inFlight: 1, requests: 8, rampS: 0 } as const;
    const allow = { ...DEFAULT_ALLOW, deniedShare: 1 };
    const limits = { rpm: 6, inFlight: 4 };
    const { run: done } = await run(
      { arrivals: one, retryAfter: "compliant", allow },
      { limits, mutations: ["retry-after.always-one"], variants: ["limits.fixed-window"] },
    );
    // Two clients that try six times each at intervals of a second: no one-minute window ends.
    expect(done.retryAfter).toMatchObject({ tested: 10, sufficient: 0, sufficientShare: null });
    expect(done.retryAfter?.groups).toMatchObject([{ sufficient: 0, insufficient: 10, contended: 0 }]);
    skipWhereLate(context, done);
    const found = done.phases[0]?.findings.find(({ name }) => name === "retry-after.sufficient");
    expect(found).toMatchObject({ outcome: "broken", weight: "warn", requirements: ["LIMIT-RATE-6"] });
    expect(done.verdict).toBe("warn");
  }, 30_000);

  test("a wait of a workload is contended if another request was admitted meanwhile", () => {
    const tally = new RetryTally("compliant", 1, true);
    const end = (atS: number, outcome: "admitted" | "denied", before?: Retrying, inFlight = 1) =>
      tally.ended(
        exchangeAt(atS, inFlight),
        { outcome, what: outcome === "denied" ? "rate_limit_exceeded" : "" },
        before,
        "w",
        0,
      );
    const groupOf = () => tally.close()?.groups[0];
    const first = end(0, "denied");
    end(0.5, "admitted");
    const second = end(1, "denied", first);
    expect(groupOf()).toMatchObject({ insufficient: 0, contended: 1 });
    // Another request that has not ended may have been admitted. A denied one has used nothing.
    const third = end(2, "denied", second, 2);
    expect(groupOf()).toMatchObject({ insufficient: 0, contended: 2 });
    end(2.5, "denied");
    const fourth = end(3, "denied", third);
    expect(groupOf()).toMatchObject({ insufficient: 1, contended: 2 });
    expect(tally.alone).toEqual({ tested: 0, sufficient: 0 });
    end(4, "denied", fourth);
    expect(groupOf()).toMatchObject({ insufficient: 2, contended: 2 });
    expect(tally.alone).toEqual({ tested: 1, sufficient: 0 });
  });

  test("histograms come out as a log that can be read back", async () => {
    const { histograms } = await run({});
    const log = histogramLog(histograms, Date.now());
    const line = log.split("\n").find((candidate) => candidate.includes("chat.non-streaming.admitted.response")) ?? "";
    const decoded = Histogram.decode(line.slice(line.lastIndexOf(",") + 1));
    expect(decoded.count).toBe(100);
    // After a round trip the maximum is a bucket's bound; the quantiles are the same.
    const { p50, p90, p95, p99 } =
      histograms.find(({ tag }) => tag.endsWith("admitted.response"))?.histogram.quantilesMs() ?? {};
    expect(decoded.quantilesMs()).toMatchObject({ p50, p90, p95, p99 });
  });

  test("the record's schema has the load section", () => {
    expect(JSON.stringify(runRecordJsonSchema())).toContain("scheduleLagMs");
  });
});
