import type { RequestSpec, Response, Session } from "../../src/checks/index.ts";
import { WINDOW_OVER_MS } from "../../src/limits/index.ts";
import { isRateDenial } from "../limits/limit-denials.ts";
import { A_WINDOW } from "../limits/paced.ts";
import type { WhileDenied } from "../limits/while-denied.ts";

/** The wait that a denial stated, and the request that was sent after it. */
export type TestedWait = {
  readonly denial: Response;
  /** Wait that the denial requested, ms; `null` if it stated no usable one, or one that was too long to test. */
  readonly waitMs: number | null;
  readonly retried: Response;
};

/** Longer than any one-minute rate can require, ms. */
const MAX_WAIT_MS = 65_000;

/** Tolerance for timers and the clocks of two machines, ms. */
const CLOCKS_MS = 50;

/** Waits as long as the denial asks for, counted from its arrival, and sends one request. */
export async function waitAndRetry(t: Session, denial: Response, request: RequestSpec): Promise<TestedWait> {
  const { timeline } = denial.exchange;
  const waitMs = denial.retryAfterWaitMs;
  const usable = waitMs !== undefined && waitMs <= MAX_WAIT_MS;
  const elapsedMs = (t.nowUs() - timeline.endUs) / 1_000;
  await t.wait(
    Math.max(0, (usable ? waitMs : WINDOW_OVER_MS) - elapsedMs) + CLOCKS_MS,
    usable ? "the Retry-After of a denial" : A_WINDOW,
  );
  return { denial, waitMs: usable ? waitMs : null, retried: await t.start({ ...request, intent: "either" }).done };
}

/** A wait below this share of the one that the first key got at about the same time is tested separately. */
const MUCH_SHORTER = 0.5;
/** The longest wait that is tested separately, ms. */
const TESTED_WAIT_MS = 6_000;

/**
 * Tests the wait of a kind of request that got a much shorter one than the first key's plain request.
 *
 * @returns `null` if no such kind was denied.
 */
export async function testShortestWait(
  t: Session,
  denial: Response,
  whileDenied: readonly WhileDenied[],
  kinds: Readonly<Record<string, RequestSpec>>,
): Promise<TestedWait | null> {
  const usual = denial.retryAfterWaitMs ?? Number.POSITIVE_INFINITY;
  const found = whileDenied
    .flatMap(({ kind, tries }) =>
      tries.filter(isRateDenial).map((response) => ({ kind, waitMs: response.retryAfterWaitMs })),
    )
    .filter(({ waitMs }) => waitMs !== undefined && waitMs < usual * MUCH_SHORTER && waitMs <= TESTED_WAIT_MS)
    .sort((a, b) => (a.waitMs ?? 0) - (b.waitMs ?? 0))[0];
  const request = found === undefined ? undefined : kinds[found.kind];
  if (request === undefined) return null;
  const fresh = await t.start({ ...request, intent: "either" }).done;
  return isRateDenial(fresh) && (fresh.retryAfterWaitMs ?? TESTED_WAIT_MS + 1) <= TESTED_WAIT_MS
    ? waitAndRetry(t, fresh, request)
    : null;
}
