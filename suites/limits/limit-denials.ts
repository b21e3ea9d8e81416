import type { Response } from "../../src/checks/index.ts";

/** Whose a 429 is that names no limit: of the rate, until a burst showed that it is of the slots. */
export type Unnamed = "rate" | "concurrency";

/** What says by its name which limit, or which spending rule, it is about. */
const NAMED: readonly (string | undefined)[] = [
  "rate_limit_exceeded",
  "concurrency_limit_exceeded",
  "budget_exhausted",
  "quota_exceeded",
];

/** A denial for the number in flight, by its name, whatever its status. */
export function isConcurrencyDenial(answer: Response): boolean {
  return isDeniedAs(answer, "concurrency_limit_exceeded");
}

/** A denial for the rate, whatever its status; a 429 that names no limit is taken for one. */
export function isRateDenial(answer: Response): boolean {
  return !isConcurrencyDenial(answer) && (answer.status === 429 || isDeniedAs(answer, "rate_limit_exceeded"));
}

/** Tells the denials of the two limits apart where 429s without a name are of one of them. */
export function limitDenials(unnamed: Unnamed) {
  const isConcurrency = (answer: Response) =>
    isConcurrencyDenial(answer) || (unnamed === "concurrency" && isUnnamed(answer));
  return { isConcurrency, isRate: (answer: Response) => isRateDenial(answer) && !isConcurrency(answer) };
}

function isDeniedAs({ status = 0, reason }: Response, limit: string): boolean {
  return status >= 400 && reason === limit;
}

function isUnnamed({ status, reason }: Response): boolean {
  return status === 429 && !NAMED.includes(reason);
}

/**
 * Whose the 429s of a burst are that name no limit: of the slots, when each came while as many others were under way as
 * there are slots.
 */
export function unnamedIn(answers: readonly Response[], slots: number): Unnamed {
  const unnamed = answers.filter(isUnnamed);
  const served = answers.filter(isServed).map(({ exchange }) => exchange.timeline);
  const isFull = ({ exchange: { timeline } }: Response) => {
    const atUs = timeline.headersUs ?? timeline.endUs;
    return served.filter(({ sentUs = 0, endUs }) => sentUs < atUs && endUs > atUs).length >= slots;
  };
  return unnamed.length > 0 && unnamed.every(isFull) ? "concurrency" : "rate";
}

/** Whatever was not served, and not for want of a slot: a denial for the rate by whatever status a gateway gives it. */
export function isRefused(answer: Response): boolean {
  return answer.status !== undefined && !isServed(answer) && !isConcurrencyDenial(answer);
}

export function isServed({ status = 0 }: Response): boolean {
  return status >= 200 && status < 300;
}

export function admittedIn(answers: readonly Response[]): number {
  return answers.filter(isServed).length;
}
