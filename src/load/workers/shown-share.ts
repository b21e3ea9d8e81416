import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { nowUs } from "../http/load-exchange.ts";
import type { Running } from "../send-share.ts";
import { GrowthReader } from "../tally-growth.ts";
import type { ShownGrowth } from "./messages.ts";

/** How often it is told, ms: what is shown is a second, which two workers end at about the same time. */
const TELL_MS = 500;
/** Sampling interval of the event-loop delay, ms; it is part of what Node reports. */
const RESOLUTION_MS = 10;
/** A gateway may invent a reason for each denial. */
const MOST_DENIALS = 100;

/** Tells the main thread what this one counts, for whoever watches. */
export class ShownShare {
  readonly #running: Running;
  readonly #tell: (growth: ShownGrowth) => void;
  readonly #reader: GrowthReader;
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #telling: NodeJS.Timeout;

  constructor(running: Running, tell: (growth: ShownGrowth) => void) {
    this.#running = running;
    this.#tell = tell;
    this.#reader = new GrowthReader(running.tally);
    this.#delay.enable();
    this.#telling = setInterval(() => this.#tellGrowth(), TELL_MS);
  }

  /** Tells of the last requests. */
  end(): void {
    clearInterval(this.#telling);
    this.#tellGrowth();
    this.#delay.disable();
  }

  #tellGrowth(): void {
    const { outcomes, sender } = this.#running;
    const { denials } = outcomes.close();
    const loopDelayP99Ms = Math.max(0, this.#delay.percentile(99) / 1e6 - RESOLUTION_MS);
    this.#delay.reset();
    this.#tell({
      growth: this.#reader.read(nowUs()),
      denials: denials.length > MOST_DENIALS ? mostFrequent(denials) : denials,
      opened: sender.opened,
      loopDelayP99Ms,
    });
  }
}

function mostFrequent(denials: ShownGrowth["denials"]): ShownGrowth["denials"] {
  return denials.sort((a, b) => b.count - a.count).slice(0, MOST_DENIALS);
}
