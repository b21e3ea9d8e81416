import type { RequestSpec, Response, Session } from "../../src/checks/index.ts";
import type { Limits } from "../../src/target/index.ts";
import { admittedIn, isConcurrencyDenial, isRateDenial, isRefused, isServed } from "./denials.ts";

/** Requests sent as fast as the gateway responds, until the first rate denial or a bound. */
export type Burst = {
  /** Description of what was sent. */
  readonly what: string;
  readonly responses: readonly Response[];
  /** From the first send to the end of the last response, seconds. */
  readonly seconds: number;
};

export interface BurstPlan {
  readonly what: string;
  /** Requests to send in rotation. */
  readonly specs: readonly RequestSpec[];
  /** Maximum number of requests. */
  readonly most: number;
  /** Maximum number of requests in flight. */
  readonly parallel: number;
}

/** Consecutive refusals with a status other than 429 after which they count as the missing denial. */
const PERSISTENT = 4;

/** A request may still be counted for a moment after its last byte: pauses after a concurrency denial, ms. */
const RELEASE_PAUSES_MS = [50, 150, 500, 1_000, 1_000, 1_000, 1_000];
/** After this long without traffic, a concurrency denial is not a late release, µs. */
const IDLE_US = 1_500_000;

/** Sends until one request is denied by the rate limit, then waits for those in flight. */
export async function burst(t: Session, { what, specs, most, parallel }: BurstPlan): Promise<Burst> {
  const responses: Response[] = [];
  const startUs = t.nowUs();
  let sent = 0;
  let denied = false;
  let refused = 0;
  const worker = async () => {
    let pauses = 0;
    while (!denied && sent < most) {
      const request = specs[sent % specs.length] ?? {};
      sent++;
      const response = await t.start({ ...request, intent: "any" }).done;
      responses.push(response);
      if (isConcurrencyDenial(response)) {
        const pauseMs = RELEASE_PAUSES_MS[pauses++];
        if (pauseMs === undefined) return;
        sent--;
        await t.wait(pauseMs);
        continue;
      }
      pauses = 0;
      refused = isRefused(response) ? refused + 1 : 0;
      if (isRateDenial(response) || refused >= PERSISTENT) denied = true;
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return { what, responses, seconds: (t.nowUs() - startUs) / 1_000_000 };
}

/** Concurrency denials with nothing in flight, now or shortly before: they mean something else. */
export function concurrencyDenialsWhenIdle({ responses }: Burst): readonly Response[] {
  const served = responses.filter(isServed).map(({ exchange }) => exchange.timeline);
  return responses.filter((response) => {
    const { dueUs } = response.exchange.timeline;
    return (
      isConcurrencyDenial(response) && served.every((other) => other.dueUs > dueUs || other.endUs < dueUs - IDLE_US)
    );
  });
}

/** Two bursts closer together than this (ms, within this tolerance) cannot both get a full minute's limit. */
const EARLY_MS = 55_000;
const EARLY_SLACK = 0.15;
/** Share of the limit that the first of two bursts must have used. */
const USED_SHARE = 0.8;

/** More than any window admits after a quiet period, except a fixed window whose boundary lies inside the burst. */
export function exceedsLimit({ responses, seconds }: Burst, { rpm }: Limits): boolean {
  return admittedIn(responses) > rpm + 1 + Math.ceil((seconds * rpm) / 60);
}

/**
 * Whether the second burst was admitted before a minute could refill what the first one used. A fixed window whose boundary lies
 * between them explains this once, not twice in a row.
 */
export function refilledEarly(first: Burst, second: Burst, { rpm }: Limits): boolean {
  const betweenMs = startedMs(second) - startedMs(first);
  if (betweenMs > EARLY_MS || admittedIn(first.responses) < rpm * USED_SHARE) return false;
  return admittedIn(second.responses) > (rpm * (betweenMs / 1_000 + second.seconds)) / 60 + rpm * EARLY_SLACK + 2;
}

/** When the first request of a burst was due, ms, in the time base of the exchanges. */
export function startedMs({ responses }: Burst): number {
  return Math.min(...responses.map(({ exchange }) => exchange.timeline.dueUs)) / 1_000;
}

/** When the last response of a burst ended, ms. */
export function endedMs({ responses }: Burst): number {
  return Math.max(...responses.map(({ exchange }) => exchange.timeline.endUs)) / 1_000;
}
