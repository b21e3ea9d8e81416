import { observationOf, type Response } from "../../src/checks/index.ts";
import { isAdmitted, type LimitName, limitOf, strayFailures as straysOf } from "../../src/limits/index.ts";

/** A concurrency denial, by its reason, whatever its status. */
export function isConcurrencyDenial(response: Response): boolean {
  return limitDenials("rate").isConcurrency(response);
}

/** A rate denial, whatever its status; a 429 that names no limit is read as one. */
export function isRateDenial(response: Response): boolean {
  return limitDenials("rate").isRate(response);
}

/** A rate denial as the specification names it: other denials use the same status. */
export function isNamedRateDenial({ status, reason }: Response): boolean {
  return status === 429 && reason === "rate_limit_exceeded";
}

/**
 * Distinguishes the denials of the two limits if 429s that name none are about `unnamed`. On an account that is kept at a limit,
 * a 429 with any other reason is a rate denial with a wrong name.
 */
export function limitDenials(unnamed: LimitName) {
  const isConcurrency = (response: Response) => limitOf(observationOf(response), unnamed) === "concurrency";
  const isRate = (response: Response) =>
    !isConcurrency(response) && (response.status === 429 || limitOf(observationOf(response)) === "rate");
  return { isConcurrency, isRate };
}

/** Anything that got neither a 2xx nor a concurrency denial: a rate denial, whatever status the gateway uses. */
export function isRefused(response: Response): boolean {
  const { outcome } = observationOf(response);
  const is2xx = isServed(response) || outcome === "invalid";
  return response.status !== undefined && !is2xx && !isConcurrencyDenial(response);
}

/** Failures so rare that they are unrelated to a limit. */
export function strayFailures(responses: readonly Response[]): readonly Response[] {
  const strays = straysOf(responses.map(observationOf)).map(({ exchange }) => exchange);
  return responses.filter(({ id }) => strays.includes(id));
}

export function withoutStrays(responses: readonly Response[]): Response[] {
  const strays = strayFailures(responses);
  return responses.filter((response) => !strays.includes(response));
}

export function isServed(response: Response): boolean {
  return isAdmitted(observationOf(response));
}

export function admittedIn(responses: readonly Response[]): number {
  return responses.filter(isServed).length;
}
