import { EXIT } from "../../core/index.ts";
import { CALIBRATED_BOUNDS, calibrate as measure, problemsOf } from "../../load/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { exitAfter, type RunControl } from "../../run/control/index.ts";

export interface CalibrateOptions {
  readonly streams: number;
  readonly seconds: number;
}

/** Measures what this machine adds; exits with 4 if it would distort the latencies of a run. */
export async function calibrate(
  { streams, seconds }: CalibrateOptions,
  { interruption, onProgress }: RunControl,
): Promise<Outcome> {
  onProgress({ kind: "step", text: "measuring this machine" });
  const calibration = await measure({ streams, seconds, signal: interruption.signal });
  const problems = problemsOf(calibration, CALIBRATED_BOUNDS);
  const verdict = problems.length === 0 ? "pass" : "inconclusive";
  const exitCode = exitAfter(interruption, problems.length === 0 ? EXIT.pass : EXIT.inconclusive);
  const { deliveryLagMs, scheduleLagMs, ttftErrorMs } = calibration;
  const percentiles = ({ p50, p99, max }: { p50: number; p99: number; max: number }) =>
    `p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)}, max ${max.toFixed(2)} ms`;
  const addsMs = Math.max(deliveryLagMs.p99, scheduleLagMs.p99).toFixed(1);
  const text = [
    `about ${streams} streams in flight for ${seconds} s against a built-in server that timestamps its events`,
    `delivery lag       ${percentiles(deliveryLagMs)}`,
    `first-token error  ${percentiles(ttftErrorMs)}`,
    `schedule lag       ${percentiles(scheduleLagMs)}`,
    ...problems,
    problems.length === 0
      ? `PASS: this machine adds ${addsMs} ms to a latency at p99`
      : `INCONCLUSIVE: this machine adds ${addsMs} ms to a latency at p99, too much to measure a gateway on it now`,
    "",
  ].join("\n");
  return { exitCode, document: { verdict, exitCode, problems, ...calibration }, text: () => text };
}
