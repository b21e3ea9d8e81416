import { InFlightGauge, nowUs } from "../../http/load-client/index.ts";
import { judgeSoFar } from "../analysis/thresholds.ts";
import { DEFAULT_BOUNDS, type HealthBounds } from "../measure/generator-health.ts";
import { OutcomeCounts } from "../measure/phase-record.ts";
import type { RunningPhase } from "../measure/progress.ts";
import { Tally } from "../measure/tally.ts";
import type { Share } from "../send/send-share.ts";
import type { Workload } from "../workload/workload.ts";
import type { ShownGrowth } from "./messages.ts";

/** A phase that several workers send, for live display: the sum of their reports so far. */
export class ShownPhase implements RunningPhase {
  readonly run: string;
  readonly name: string;
  readonly originUs: number;
  readonly totalS: number | undefined;
  readonly bounds: HealthBounds = DEFAULT_BOUNDS;
  readonly judgeThresholds: RunningPhase["judgeThresholds"];
  readonly #gauge: InFlightGauge;
  readonly #latest = new Map<number, ShownGrowth>();
  #tally: Tally;
  #final: Pick<Share, "outcomes" | "connections"> | undefined;

  /** @param startUs start of the measurement, on the clock of `nowUs`. @param inFlight cell shared by all workers. */
  constructor(
    {
      run,
      originUs,
      totalS,
      thresholds,
    }: Pick<RunningPhase, "run" | "originUs" | "totalS"> & Pick<Workload, "thresholds">,
    startUs: number,
    inFlight: Int32Array,
  ) {
    this.run = run;
    this.name = run;
    this.originUs = originUs;
    this.totalS = totalS;
    this.#tally = new Tally(startUs);
    this.#gauge = new InFlightGauge(inFlight);
    const elapsedS = () => Math.max(0, nowUs() - startUs) / 1_000_000;
    this.judgeThresholds =
      thresholds &&
      (() => judgeSoFar(thresholds, { name: run, tally: this.tally, outcomes: this.#outcomesSoFar(), elapsedS }));
  }

  /** Adds a worker's report. @param worker its index. */
  take(worker: number, shown: ShownGrowth): void {
    this.#latest.set(worker, shown);
    this.#tally.grow(shown.growth);
  }

  /** Replaces the interim reports with the data for the record. */
  settle({ tally, outcomes, connections }: Pick<Share, "tally" | "outcomes" | "connections">): void {
    this.#tally = tally;
    this.#final = { outcomes, connections };
  }

  get tally(): Tally {
    return this.#tally;
  }

  get outcomes(): RunningPhase["outcomes"] {
    return this.#outcomesSoFar();
  }

  #outcomesSoFar(): OutcomeCounts {
    if (this.#final !== undefined) return this.#final.outcomes;
    const all = new OutcomeCounts();
    for (const { denials } of this.#latest.values())
      all.merge({ denials, failures: [], invalidReplies: [], unknownFields: [] });
    return all;
  }

  get sender(): RunningPhase["sender"] {
    const opened = [...this.#latest.values()].reduce((sum, { opened }) => sum + opened, 0);
    return { inFlight: this.#gauge.count, opened: this.#final?.connections ?? opened };
  }

  /** Maximum over all workers. */
  get loopDelayP99Ms(): number {
    return Math.max(0, ...[...this.#latest.values()].map(({ loopDelayP99Ms }) => loopDelayP99Ms));
  }
}
