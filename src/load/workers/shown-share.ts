import { nowUs } from "../../http/load-client/index.ts";
import { LoopDelay } from "../measure/loop-delay.ts";
import { GrowthReader } from "../measure/tally-growth.ts";
import type { Running } from "../send/send-share.ts";
import type { ShownGrowth } from "./messages.ts";

/** Report interval, ms: the display shows whole seconds, which two workers finish at about the same time. */
const REPORT_MS = 500;
/** A gateway may invent a reason for each denial. */
const MAX_DENIALS = 100;

/** Reports this worker's counts to the main thread, for live display. */
export class ShownShare {
  readonly #running: Running;
  readonly #report: (growth: ShownGrowth) => void;
  readonly #reader: GrowthReader;
  readonly #delay = new LoopDelay();
  readonly #reporting: NodeJS.Timeout;

  constructor(running: Running, report: (growth: ShownGrowth) => void) {
    this.#running = running;
    this.#report = report;
    this.#reader = new GrowthReader(running.tally);
    this.#reporting = setInterval(() => this.#reportGrowth(), REPORT_MS);
  }

  /** Reports the last requests. */
  end(): void {
    clearInterval(this.#reporting);
    this.#reportGrowth();
    this.#delay[Symbol.dispose]();
  }

  #reportGrowth(): void {
    const { outcomes, sender } = this.#running;
    const { denials } = outcomes.close();
    this.#report({
      growth: this.#reader.read(nowUs()),
      denials: denials.length > MAX_DENIALS ? mostFrequent(denials) : denials,
      opened: sender.opened,
      loopDelayP99Ms: this.#delay.takeP99Ms(),
    });
  }
}

function mostFrequent(denials: ShownGrowth["denials"]): ShownGrowth["denials"] {
  return denials.sort((a, b) => b.count - a.count).slice(0, MAX_DENIALS);
}
