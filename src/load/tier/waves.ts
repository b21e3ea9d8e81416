import { sleep } from "../../core/index.ts";

/** Maximum wait, ms: streams that never end must not block the judging of the other tiers. */
const MAX_WAIT_MS = 20_000;

/**
 * The waves of concurrent streams that tier runs in this process have sent. Judging blocks the event loop for up to a second
 * in total: the tokens of a wave that is running at that time would seem to arrive late.
 */
export class Waves {
  readonly #running = new Set<Promise<unknown>>();

  /** Counts these streams as one wave until all of them have ended. */
  add(streams: readonly Promise<unknown>[]): void {
    const wave: Promise<unknown> = Promise.allSettled(streams).then(() => this.#running.delete(wave));
    this.#running.add(wave);
  }

  /** Resolves as soon as no wave is running; at the latest after 20 s. */
  async waitUntilIdle(): Promise<void> {
    const settled = new AbortController();
    await Promise.race([this.#idle(), sleep(MAX_WAIT_MS, settled.signal)]);
    settled.abort();
  }

  /** Another wave may begin while the last one ends. */
  async #idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
