import { expect, test } from "vitest";
import { CALIBRATED_BOUNDS, problemsOf } from "../../src/load/index.ts";

const quantiles = (p99: number) => ({ p50: 0.1, p90: 0.2, p95: p99, p99, p999: p99, max: p99 });
const calibration = (deliveryP99: number, scheduleP99: number) => ({
  deliveryLagMs: quantiles(deliveryP99),
  scheduleLagMs: quantiles(scheduleP99),
  ttftErrorMs: quantiles(1),
  ratePerS: 100,
  streams: 10,
});

test("a machine is said to be on time only within the bounds that are printed", () => {
  expect(problemsOf(calibration(2, 2), CALIBRATED_BOUNDS)).toEqual([]);
  expect(problemsOf(calibration(24, 2), CALIBRATED_BOUNDS)).toEqual([
    "calibration: events are read late, p99 24.0 ms, limit 5 ms",
  ]);
  expect(problemsOf(calibration(2, 6), CALIBRATED_BOUNDS)).toEqual([
    "calibration: sends are late, p99 6.0 ms, limit 5 ms",
  ]);
});

test("a calibration that saw nothing says so", () => {
  const nothing = { ...calibration(0, 0), deliveryLagMs: { p50: 0, p90: 0, p95: 0, p99: 0, p999: 0, max: 0 } };
  expect(problemsOf(nothing, CALIBRATED_BOUNDS)).toEqual(["the calibration saw no event"]);
});
