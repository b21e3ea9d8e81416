import { NO_QUANTILES } from "../metrics/index.ts";
import type { LoadGenerator } from "./sections/load-section.ts";

/** The figures of a generator that nobody measured. */
export const UNMEASURED: Omit<LoadGenerator, "valid" | "problems"> = {
  scheduleLagMs: NO_QUANTILES,
  loopDelayMs: null,
  cpuS: 0,
  cpuShare: 0,
  peakRssBytes: 0,
  connectionWaits: 0,
  workers: 0,
  calibration: null,
};
