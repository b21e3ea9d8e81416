import type { LiveExchange } from "../http-recorder/index.ts";
import { isStale, type Response } from "./response.ts";

/** A request under way whose end is not waited for. */
export interface Held {
  /** The status, when the head of the response is there; `undefined`: it ended without one. */
  readonly headed: Promise<number | undefined>;
  /** `true` when the first byte of the body is there; `false`: it ended without one. */
  readonly started: Promise<boolean>;
  readonly done: Promise<Response>;
  /** Leaves as a client does that gives up. */
  abort(): void;
  /** Reads no more of the response; only leaving ends it. */
  pause(): void;
}

/** One exchange of it. */
export interface Attempt {
  readonly live: LiveExchange;
  readonly done: Promise<Response>;
}

/**
 * A request that is sent once more where it met a connection that the gateway had closed while it was idle (RFC 9112, 9.3).
 *
 * @param again sends it on a new connection; what it throws, everybody learns who waits for the request.
 */
export function heldRequest(first: Attempt, again: (stale: Response) => Attempt): Held {
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
  // Nobody has to wait.
  for (const promise of Object.values(held)) promise.catch(() => undefined);
  return { ...held, abort: () => current.live.abort(), pause: () => current.live.pause() };
}
