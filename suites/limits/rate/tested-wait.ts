import { observationOf, type RequestSpec, type Response, type Session } from "../../../src/checks/index.ts";
import { isShortWait, muchShorterWait, waitToTest } from "../../../src/limits/index.ts";
import { isRateDenial } from "../denials.ts";
import { RATE_WINDOW_LABEL } from "../paced.ts";
import { ROUNDS, type WhileDenied } from "./while-denied.ts";

/** The wait that a denial stated, and the request that was sent after it. */
export type TestedWait = {
  readonly denial: Response;
  /** Wait that the denial requested, ms; `null` if it stated no usable one, or one that was too long to test. */
  readonly waitMs: number | null;
  readonly retried: Response;
};

/** Waits as long as the denial asks for, and sends one request. */
export async function waitAndRetry(t: Session, denial: Response, request: RequestSpec): Promise<TestedWait> {
  const { waitMs, restMs } = waitToTest(observationOf(denial), t.nowUs());
  await t.wait(restMs, waitMs === null ? RATE_WINDOW_LABEL : "the Retry-After of a denial");
  return { denial, waitMs, retried: await t.start({ ...request, intent: "any" }).done };
}

/**
 * A rate denial after which the account has sent nothing: a request that is admitted after a denial takes the capacity for which the
 * denial says to wait.
 *
 * @param reachLimit brings the account to its limit. @returns whether it was refused
 * @returns `null` if no request is denied
 */
export async function latestDenial(
  t: Session,
  request: RequestSpec,
  reachLimit: () => Promise<boolean>,
): Promise<Response | null> {
  for (let round = 0; ; round++) {
    const response = await t.start({ ...request, intent: "any" }).done;
    if (isRateDenial(response)) return response;
    if (round === ROUNDS || !(await reachLimit())) return null;
  }
}

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
  const denials = whileDenied.flatMap(({ tries }) => tries.filter(isRateDenial));
  const shortest = muchShorterWait(denials, denial.retryAfterWaitMs);
  const kind = whileDenied.find(({ tries }) => shortest !== undefined && tries.includes(shortest))?.kind;
  const request = kind === undefined ? undefined : kinds[kind];
  if (request === undefined) return null;
  const fresh = await t.start({ ...request, intent: "any" }).done;
  return isRateDenial(fresh) && isShortWait(fresh) ? waitAndRetry(t, fresh, request) : null;
}
