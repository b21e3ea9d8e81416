import { type Check, defineInvariant, type Response } from "../../../src/checks/index.ts";
import { atMost } from "../../../src/judging/index.ts";
import { isNamedRateDenial, isServed } from "../denials.ts";

const MINUTE_US = 60_000_000;
/** Retry-After has whole seconds, rounded up. */
const SLACK_US = 1_500_000;
/** Below this share of the limit, a denial with a long wait is not about the limit in the target file. */
const FAR_BELOW = 0.6;
/** After a pause of this many intervals of the limit, and at least this long, even a limiter without burst admits a request. */
const REST_INTERVALS = 4;
const REST_MS = 300;
/** A limiter that requires evenly spaced requests asks for waits of a few seconds at most, ms. */
const LONG_WAIT_MS = 10_000;

const farBelow = defineInvariant({
  id: "limits.rate-far-below",
  title: "Traffic far below an account's limit does not get a long Retry-After",
  covers: ["LIMIT-RATE-3", "STEADY-SERVICE"],
  countsRequests: true,
  explains:
    "The run keeps its own accounts below the limits in the target file. A rate denial when less than 60 % of the limit was used in the minute before it, with a Retry-After of ten seconds or more or after the account was idle, means that a smaller limit is enforced. It is a failure on an account set aside for limits or a tier, because nobody else uses it, and a warning on other accounts. Denials that traffic before the run may explain do not count, nor do denials of requests that a check sends in a burst.",
  judge(responses, verdict) {
    const known = responses.filter(({ requested }) => requested.rpm !== undefined);
    if (known.length === 0) return verdict.notApplicable("the target names no limits");
    const startUs = responses.reduce(
      (first, { exchange }) => Math.min(first, exchange.timeline.dueUs),
      Number.POSITIVE_INFINITY,
    );
    const odd = known.filter(
      (response) =>
        isNamedRateDenial(response) &&
        response.requested.intent === "valid" &&
        !mayBeOlder(response, startUs) &&
        (longWait(response) || hadRested(response, known)) &&
        usedBefore(response, known) < FAR_BELOW,
    );
    const onSetAside = odd.filter(({ requested }) => isSetAside(requested.account));
    const seenOf = ([first]: readonly Response[]) => ({
      in: first,
      because:
        first === undefined
          ? "denials far below the limit"
          : `denied with ${Math.round(usedBefore(first, known) * 100)} % of ${first.requested.rpm} per minute used on account ${first.requested.account}`,
    });
    verdict.must("LIMIT-RATE-3", onSetAside.length, atMost(1), seenOf(onSetAside));
    const shared = odd.filter((response) => !onSetAside.includes(response));
    verdict.should("STEADY-SERVICE", shared.length, atMost(1), seenOf(shared));
  },
});

/** Whether the target reserves this account for limits. Other clients may be using the other accounts. */
const isSetAside = (account: string): boolean => /^(?:limited|tiers)\./.test(account);

/** Whether traffic before the run explains a denial: such requests leave every window within a minute. */
function mayBeOlder(response: Response, startUs: number): boolean {
  return response.exchange.timeline.endUs + 1_000 * (response.retryAfterWaitMs ?? 0) <= startUs + MINUTE_US + SLACK_US;
}

/** Whether nothing else had been sent on the account for a while. */
function hadRested({ requested, exchange }: Response, responses: readonly Response[]): boolean {
  const restUs = 1_000 * Math.max(REST_MS, (REST_INTERVALS * 60_000) / (requested.rpm ?? 1));
  const { dueUs } = exchange.timeline;
  return !responses.some(
    (other) =>
      other.requested.account === requested.account &&
      other.exchange.id !== exchange.id &&
      other.exchange.timeline.dueUs <= dueUs &&
      other.exchange.timeline.dueUs > dueUs - restUs,
  );
}

function longWait(response: Response): boolean {
  return (response.retryAfterWaitMs ?? 0) >= LONG_WAIT_MS;
}

/** Share of the account's limit that our own requests used in the minute before. Denied ones may count, too. */
function usedBefore({ requested, exchange }: Response, responses: readonly Response[]): number {
  const endUs = exchange.timeline.endUs;
  const used = responses.filter(
    (other) =>
      other.requested.account === requested.account &&
      (isServed(other) || isNamedRateDenial(other) || mayHaveUsedLimit(other)) &&
      other.exchange.timeline.dueUs > endUs - MINUTE_US &&
      other.exchange.timeline.dueUs <= endUs,
  );
  return used.length / (requested.rpm ?? Number.POSITIVE_INFINITY);
}

const mayHaveUsedLimit = ({ requested, exchange }: Response): boolean =>
  requested.intent !== "valid" || exchange.ending.kind === "aborted";

/** Multiple of the limit that any minute may admit: that of a fixed window that resets in it, or of a full bucket. */
const MAX_OF_LIMIT = 2;
const ACCIDENTS = 2;

const anyMinute = defineInvariant({
  id: "limits.rate-any-minute",
  title: "No minute of the run admits more than twice an account's limit",
  covers: ["LIMIT-RATE-2"],
  explains:
    "Counts the requests served in each span of sixty seconds on the accounts that the target sets aside for limits. Whatever the window, twice the limit is the maximum: around the edge of a fixed window, or a full bucket plus its refill. More means that counts are lost: reset, split, or sometimes not kept.",
  judge(responses, verdict) {
    const limited = responses.filter(
      ({ requested }) => requested.account.startsWith("limited.") && requested.rpm !== undefined,
    );
    if (limited.length === 0) return verdict.notApplicable("the target sets no account aside for limits");
    for (const account of new Set(limited.map(({ requested }) => requested.account))) {
      const own = limited.filter(({ requested }) => requested.account === account);
      const served = own
        .filter((response) => isServed(response) && response.requested.endpoint !== "models")
        .sort((a, b) => sentUs(a) - sentUs(b));
      const most = MAX_OF_LIMIT * (own[0]?.requested.rpm ?? 0) + ACCIDENTS;
      // One request more than that, all of which reached the gateway within a minute.
      const exceedsLimit = served.findIndex((first, at) => {
        const run = served.slice(at, at + most + 1);
        return run.length > most && Math.max(...run.map(latestArrivalUs)) - sentUs(first) < MINUTE_US;
      });
      verdict.must("LIMIT-RATE-2", exceedsLimit >= 0, false, {
        in: served[exceedsLimit < 0 ? 0 : exceedsLimit + most],
        because: `more than ${most} served within a minute on account ${account}`,
      });
    }
  },
});

function sentUs({ exchange }: Response): number {
  return exchange.timeline.sentUs ?? exchange.timeline.dueUs;
}

/** The latest time at which it can have reached the gateway. */
function latestArrivalUs({ exchange }: Response): number {
  return exchange.timeline.headersUs ?? exchange.timeline.endUs;
}

export const RATE_OVER_THE_RUN: readonly Check[] = [farBelow, anyMinute];
