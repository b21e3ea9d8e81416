import type { RequestSpec, Response, Session } from "../../src/checks/index.ts";

/** Requests sent as fast as they are answered, until the first denial for the rate or a bound. */
export type Burst = {
  /** What was sent, in words. */
  readonly what: string;
  readonly answers: readonly Response[];
  /** From the first sending to the last answer, seconds. */
  readonly seconds: number;
};

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

export interface BurstPlan {
  readonly what: string;
  /** Requests in turn; begun again when they are through. */
  readonly asks: readonly RequestSpec[];
  /** Requests at most. */
  readonly most: number;
  /** Requests at once. */
  readonly parallel: number;
}

/** Refusals in a row by another status than 429, after which they are taken for the denial that they should have been. */
const PERSISTENT = 4;

/** A slot may come free a moment after the last byte: so long is waited for one, ms, again and again. */
const RELEASE_PAUSES_MS = [50, 150, 500, 1_000, 1_000, 1_000, 1_000];
/** After such a silence of ours a denial for slots is no late release, µs. */
const IDLE_US = 1_500_000;

/** Sends until one request is denied for the rate; those already under way are waited for. */
export async function burst(t: Session, { what, asks, most, parallel }: BurstPlan): Promise<Burst> {
  const answers: Response[] = [];
  const startUs = t.nowUs();
  let sent = 0;
  let denied = false;
  let refused = 0;
  const worker = async () => {
    let pauses = 0;
    while (!denied && sent < most) {
      const request = asks[sent % asks.length] ?? {};
      sent++;
      const answer = await t.start({ ...request, intent: "either" }).done;
      answers.push(answer);
      if (isConcurrencyDenial(answer)) {
        const pauseMs = RELEASE_PAUSES_MS[pauses++];
        if (pauseMs === undefined) return;
        sent--;
        await t.wait(pauseMs);
        continue;
      }
      pauses = 0;
      refused = isRefused(answer) ? refused + 1 : 0;
      if (isRateDenial(answer) || refused >= PERSISTENT) denied = true;
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return { what, answers, seconds: (t.nowUs() - startUs) / 1_000_000 };
}

/** Sends all of them at once; the asks take turns. */
export function atOnce(t: Session, asks: readonly RequestSpec[], count: number): Promise<Response[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => t.start(asks[at % asks.length] ?? {}).done));
}

/** Denials for slots when nothing of ours was under way, nor had been for a while: they mean something else. */
export function concurrencyDenialsWhenIdle({ answers }: Burst): readonly Response[] {
  const served = answers.filter(isServed).map(({ exchange }) => exchange.timeline);
  return answers.filter((answer) => {
    const { dueUs } = answer.exchange.timeline;
    return isConcurrencyDenial(answer) && served.every((other) => other.dueUs > dueUs || other.endUs < dueUs - IDLE_US);
  });
}

export function admittedIn(answers: readonly Response[]): number {
  return answers.filter(isServed).length;
}
