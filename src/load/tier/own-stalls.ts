import { nowUs } from "../http/load-exchange.ts";

/** How often we look at ourselves, ms, and what counts as having stood still. */
const EVERY_MS = 25;
const STALL_MS = 75;

/** Notes the stretches in which this process stood still: what seems to stall then need not be the gateway. */
export class OwnStalls implements Disposable {
  readonly stretches: (readonly [fromUs: number, toUs: number])[] = [];
  readonly #timer: NodeJS.Timeout;
  #lastUs = nowUs();

  constructor() {
    this.#timer = setInterval(() => {
      const now = nowUs();
      if (now - this.#lastUs > (EVERY_MS + STALL_MS) * 1_000) this.stretches.push([this.#lastUs, now]);
      this.#lastUs = now;
    }, EVERY_MS);
    this.#timer.unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
