import { sleep } from "./clock.ts";

/** What a sender that respects a silence waits at most, ms: whoever wants one may hang. */
const LONGEST_MS = 60_000;

/** A time without traffic that one part of a run waits for while others, beside it, still send. */
export class Silence {
  readonly #idleMs: () => number;
  #wanted: { readonly ms: number; readonly over: AbortController } | undefined;

  /** @param idleMs how long nothing has been under way, ms. */
  constructor(idleMs: () => number) {
    this.#idleMs = idleMs;
  }

  /** From now on a silence of so many ms is wanted, until `end`. */
  want(ms: number): void {
    this.#wanted ??= { ms, over: new AbortController() };
  }

  end(): void {
    this.#wanted?.over.abort();
    this.#wanted = undefined;
  }

  /** Waits where a silence is wanted and half of it has passed already: what is sent now would break it. */
  async respected(signal: AbortSignal): Promise<void> {
    const wanted = this.#wanted;
    if (wanted === undefined || this.#idleMs() < wanted.ms / 2) return;
    await sleep(LONGEST_MS, AbortSignal.any([signal, wanted.over.signal]));
  }
}
