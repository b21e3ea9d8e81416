import { nowUs } from "../http/load-exchange.ts";
import { LoopDelay } from "../loop-delay.ts";
import type { Running } from "../send-share.ts";
import { GrowthReader } from "../tally-growth.ts";
import type { ShownGrowth } from "./messages.ts";

/** How often it is told, ms: what is shown is a second, which two workers end at about the same time. */
const TELL_MS = 500;
/** A gateway may invent a reason for each denial. */
const MOST_DENIALS = 100;

/** Tells the main thread what this one counts, for whoever watches. */
export class ShownShare {
  readonly #running: Running;
  readonly #tell: (growth: ShownGrowth) => void;
  readonly #reader: GrowthReader;
  readonly #delay = new LoopDelay();
  readonly #telling: NodeJS.Timeout;

  constructor(running: Running, tell: (growth: ShownGrowth) => void) {
    this.#running = running;
    this.#tell = tell;
    this.#reader = new GrowthReader(running.tally);
    this.#telling = setInterval(() => this.#tellGrowth(), TELL_MS);
  }

  /** Tells of the last requests. */
  end(): void {
    clearInterval(this.#telling);
    this.#tellGrowth();
    this.#delay[Symbol.dispose]();
  }

  #tellGrowth(): void {
    const { outcomes, sender } = this.#running;
    const { denials } = outcomes.close();
    this.#tell({
      growth: this.#reader.read(nowUs()),
      denials: denials.length > MOST_DENIALS ? mostFrequent(denials) : denials,
      opened: sender.opened,
      loopDelayP99Ms: this.#delay.takeP99Ms(),
    });
  }
}

function mostFrequent(denials: ShownGrowth["denials"]): ShownGrowth["denials"] {
  return denials.sort((a, b) => b.count - a.count).slice(0, MOST_DENIALS);
}
