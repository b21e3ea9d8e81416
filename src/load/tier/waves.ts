import { sleep } from "../../core/index.ts";

/** A gateway whose streams never end must not keep the others from being judged, ms. */
const MAX_WAIT_MS = 20_000;

/**
 * The waves of concurrent streams that tier runs in this process have sent. Judging blocks the event loop for up to a second
 * in total: while a wave runs, its tokens would arrive late because of that.
 */
export class Waves {
  readonly #running = new Set<Promise<unknown>>();

  /** Counts these streams as one wave until all of them have ended. */
  add(streams: readonly Promise<unknown>[]): void {
    const wave: Promise<unknown> = Promise.allSettled(streams).then(() => this.#running.delete(wave));
    this.#running.add(wave);
  }

  /** Resolves as soon as no wave is running; at the latest after 20 s. */
  async over(): Promise<void> {
    const over = new AbortController();
    await Promise.race([this.#end(), sleep(MAX_WAIT_MS, over.signal)]);
    over.abort();
  }

  /** Another wave may begin while the last one ends. */
  async #end(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
