import { describe, expect, test } from "vitest";
import { LoadGuard } from "../../src/load/load-guard.ts";
import { assertOfTotals, endIfCrossed, readThresholds, withThresholds } from "../../src/load/thresholds.ts";
import { loadClass, loadPhase, loadRun, quantiles } from "../support/load-records.ts";

const aborting = (threshold: string) => readThresholds([{ threshold, abortOnFail: true, delayAbortEvalS: 2 }]);
const guard = () => new LoadGuard({ budget: { requests: 10_000 }, circuit: undefined });
const totals = (failed: number, elapsedS = 10) => ({
  ...{ sent: 1_000, admitted: 1_000 - failed, denied: 0, refused: 0, failed, elapsedS },
});

describe("running totals of an engine", () => {
  test.each([
    ["failed < 1 %", totals(40), true],
    ["failed < 1 %", totals(12), false],
    ["failed < 1 %", totals(40, 1), false],
    ["failed < 30", totals(40), true],
    ["admitted > 99 %", totals(40), true],
    ["admitted > 99 %", totals(12), false],
  ])("%s after %j ends the load: %s", (threshold, now, isEnded) => {
    const one = guard();
    endIfCrossed(aborting(threshold), one, now);
    expect(one.stop?.kind).toBe(isEnded ? "threshold" : undefined);
  });

  test.each(["response_ms p95 < 800", "failed{phase=w} < 3", "admitted > 500"])("cannot decide %s", (threshold) => {
    expect(() => assertOfTotals(aborting(threshold), "k6")).toThrow(/needs the native engine: k6 only reports counts/);
    expect(() => assertOfTotals(readThresholds([threshold]), "k6")).not.toThrow();
  });
});

describe("a run whose generator was late", () => {
  const p50: [number, number] = [418, 422];
  const intervals = { p50, p90: null, p95: null, p99: null, p999: null };
  const classes = [loadClass({ responseMs: { ...quantiles(420), intervals } })];
  const shares = (failed: number) => ({
    ...{ admitted: 1 - failed, denied: 0, failed, invalid: 0 },
    intervals: {
      ...{ admitted: [0, 1] as [number, number], denied: [0, 1] as [number, number] },
      failed: [failed * 0.8, failed * 1.2] as [number, number],
      invalid: [0, 1] as [number, number],
    },
  });
  const late = (failed: number, threshold: string) => {
    const phases = [loadPhase("w", { classes, failed: failed * 5_000, shares: shares(failed) })];
    const run = loadRun("w", { phases, workload: { thresholds: [threshold] } });
    return withThresholds({ ...run, generator: { ...run.generator, valid: false, problems: ["late"] } }).thresholds
      ?.status;
  };

  test("decides no latency", () => {
    expect(late(0, "response_ms p50 < 100")).toBe("inconclusive");
  });

  test("decides shares of requests that failed", () => {
    expect(late(0.2, "failed < 1 %")).toBe("fail");
    expect(late(0.002, "failed < 1 %")).toBe("pass");
  });
});
