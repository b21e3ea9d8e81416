import type { Response } from "../../src/checks/index.ts";
import { namesLimit } from "../../src/limits/index.ts";

/** How a 429 without a named limit is read: as rate, unless a burst showed that it is about concurrency. */
export type Unnamed = "rate" | "concurrency";

/** A concurrency denial, by its reason, whatever its status. */
export function isConcurrencyDenial(response: Response): boolean {
  return isDeniedAs(response, "concurrency_limit_exceeded");
}

/** A rate denial, whatever its status; a 429 that names no limit is read as one. */
export function isRateDenial(response: Response): boolean {
  return !isConcurrencyDenial(response) && (response.status === 429 || isDeniedAs(response, "rate_limit_exceeded"));
}

/** Distinguishes the denials of the two limits if unnamed 429s are about one of them. */
export function limitDenials(unnamed: Unnamed) {
  const isConcurrency = (response: Response) =>
    isConcurrencyDenial(response) || (unnamed === "concurrency" && isUnnamed(response));
  return { isConcurrency, isRate: (response: Response) => isRateDenial(response) && !isConcurrency(response) };
}

function isDeniedAs({ status = 0, reason }: Response, limit: string): boolean {
  return status >= 400 && reason === limit;
}

function isUnnamed({ status, reason }: Response): boolean {
  return status === 429 && !namesLimit(reason);
}

/** What the unnamed 429s of a burst are about: concurrency, if each arrived while the limit was in flight. */
export function unnamedIn(responses: readonly Response[], limit: number): Unnamed {
  const unnamed = responses.filter(isUnnamed);
  const served = responses.filter(isServed).map(({ exchange }) => exchange.timeline);
  const isFull = ({ exchange: { timeline } }: Response) => {
    const atUs = timeline.headersUs ?? timeline.endUs;
    return served.filter(({ sentUs = 0, endUs }) => sentUs < atUs && endUs > atUs).length >= limit;
  };
  return unnamed.length > 0 && unnamed.every(isFull) ? "concurrency" : "rate";
}

/** Anything that was neither served nor a concurrency denial: a rate denial, whatever status the gateway uses. */
export function isRefused(response: Response): boolean {
  return response.status !== undefined && !isServed(response) && !isConcurrencyDenial(response);
}

/** A provider may fail this share of many requests, or one of a few, without any relation to a limit. */
const STRAY_SHARE = 0.03;

/**
 * Failures unrelated to a limit: 5xx without a named limit, or no response at all, if they are rare. If there are more, this is
 * how the gateway denies.
 */
export function strayFailures(responses: readonly Response[]): readonly Response[] {
  const failures = responses.filter(isFailure);
  const most = Math.max(1, Math.floor(responses.length * STRAY_SHARE));
  return failures.length <= most && failures.length < responses.length ? failures : [];
}

export function withoutStrays(responses: readonly Response[]): Response[] {
  const strays = strayFailures(responses);
  return responses.filter((response) => !strays.includes(response));
}

/** Neither served nor denied with a named limit: the gateway or a provider failed. */
function isFailure(response: Response): boolean {
  return (response.status ?? 500) >= 500 && !isConcurrencyDenial(response) && !isRateDenial(response);
}

export function isServed({ status = 0 }: Response): boolean {
  return status >= 200 && status < 300;
}

export function admittedIn(responses: readonly Response[]): number {
  return responses.filter(isServed).length;
}
