import type { Response } from "./response.ts";

/** How long a control request is valid for similar requests, ms. */
const LASTS_MS = 8_000;

/**
 * Control requests of negative probes. A valid request that was served a moment ago also counts for the next probes, so that
 * controls do not double the traffic.
 */
export class ControlRequests {
  readonly #known = new Map<string, { readonly response: Promise<Response>; readonly atMs: number }>();
  readonly #nowMs: () => number;

  /** @param nowMs monotonic clock, ms. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** @param name the same for identical requests. */
  async get(name: string, send: () => Promise<Response>): Promise<Response> {
    const known = this.#known.get(name);
    if (known !== undefined && this.#nowMs() - known.atMs < LASTS_MS) {
      const response = await known.response;
      if (response.admitted) return response;
    }
    const response = send();
    this.#known.set(name, { response, atMs: this.#nowMs() });
    return response;
  }

  clear(): void {
    this.#known.clear();
  }
}
