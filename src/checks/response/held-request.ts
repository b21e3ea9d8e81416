import type { LiveExchange } from "../../http/recorder/index.ts";
import { isStale, type Response } from "./response.ts";

/** A request in flight; the caller does not wait for its end. */
export interface HeldRequest {
  /** The status, once the head of the response has arrived; `undefined` if the request ended without one. */
  readonly headed: Promise<number | undefined>;
  /** `true` once the first byte of the body has arrived; `false` if the request ended without one. */
  readonly started: Promise<boolean>;
  readonly done: Promise<Response>;
  /** Disconnects, like a client that times out. */
  abort(): void;
  /** Stops reading the response; only `abort` ends it then. */
  pause(): void;
}

/** One exchange of the request. */
export interface Attempt {
  readonly live: LiveExchange;
  readonly done: Promise<Response>;
}

/**
 * A request that is sent again if it used an idle connection that the gateway had already closed (RFC 9112, 9.3).
 *
 * @param again sends it on a new connection; if it throws, everyone waiting for the request gets the error.
 */
export function heldRequest(first: Attempt, again: (stale: Response) => Attempt): HeldRequest {
  let current = first;
  const settled = first.done.then((response) => {
    if (isStale(response.exchange)) current = again(response);
    return current;
  });
  const held = {
    headed: first.live.headed.then((status) => status ?? settled.then(({ live }) => live.headed)),
    started: first.live.started.then((hasStarted) => hasStarted || settled.then(({ live }) => live.started)),
    done: settled.then(({ done }) => done),
  };
  // Callers need not await all of them.
  for (const promise of Object.values(held)) promise.catch(() => undefined);
  return { ...held, abort: () => current.live.abort(), pause: () => current.live.pause() };
}
