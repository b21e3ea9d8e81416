import { defineCheck, type Response } from "../../../src/checks/index.ts";
import { atMost, isTrue } from "../../../src/judging/index.ts";
import { isServed } from "../denials.ts";
import type { LateRequest } from "./recording.ts";
import { concurrencyScenario } from "./scenario.ts";

export const nonStreaming = defineCheck({
  id: "limits.concurrency-non-streaming",
  scenario: concurrencyScenario,
  basis: "timing",
  title: "Non-streaming requests count toward the concurrency limit",
  covers: ["LIMIT-CONC-1", "LIMIT-CONC-2"],
  explains:
    "Sends more concurrent non-streaming requests than the limit allows, to a slow model. Where all were in flight at one moment, at most the limit may be served, and the others must be denied. Then sends exactly the limit, and one more shortly before the replies, which must also be denied.",
  needs: ["model.slow"],
  judge({ nonStreaming, lateNonStreaming, limits }, verdict) {
    if (nonStreaming.length === 0)
      return verdict.notApplicable(
        "the account's rate limit does not allow this many simultaneous non-streaming requests",
      );
    const served = nonStreaming.filter(isServed);
    const withinLimit = (lateNonStreaming?.held ?? []).filter(isServed);
    const lastSentUs = Math.max(...served.map(({ exchange }) => exchange.timeline.sentUs ?? Number.POSITIVE_INFINITY));
    const firstEndUs = Math.min(...served.map(({ exchange }) => exchange.timeline.headersUs ?? 0));
    if (served.length === 0) return verdict.inconclusive("no non-streaming request was served");
    if (served.length > limits.inFlight && lastSentUs > firstEndUs)
      return verdict.notApplicable("the non-streaming replies were over before all had been sent");
    if (
      served.length > limits.inFlight &&
      served.length < nonStreaming.length &&
      !ranConcurrently(served, [...served, ...withinLimit])
    )
      return verdict.inconclusive(
        "some replies arrived so late that their requests may have begun after others had ended",
      );
    const seen = {
      in: served.at(-1),
      because: `${nonStreaming.length} concurrent non-streaming requests with a limit of ${limits.inFlight}: ${served.length} served`,
    };
    verdict.must("LIMIT-CONC-2", served.length, atMost(limits.inFlight), seen);
    verdict.must("LIMIT-CONC-1", served.length < nonStreaming.length, isTrue("some of them to be denied"), seen);
    if (lateNonStreaming?.held.every(isServed) !== true) return;
    if (!wereSentBefore(lateNonStreaming)) return;
    const firstDoneUs = Math.min(...lateNonStreaming.held.map(({ exchange }) => exchange.timeline.headersUs ?? 0));
    verdict.must("LIMIT-CONC-2", servedBefore(lateNonStreaming.extra, firstDoneUs), false, {
      in: lateNonStreaming.extra,
      because: "served while non-streaming requests filled the concurrency limit",
    });
  },
});

/** Every reply is assumed to take at least this share of the shortest reply's time. */
const SURE_SHARE = 0.7;

const headersOrEndUs = ({ exchange: { timeline } }: Response) => timeline.headersUs ?? timeline.endUs;

/**
 * Whether all of them had begun before the first ended, judged by the latest end and the shortest possible duration. Replies
 * that a busy gateway delayed all look long: the shortest is looked for among all replies of the same kind.
 */
function ranConcurrently(served: readonly Response[], sameKind: readonly Response[]): boolean {
  const endsUs = served.map(headersOrEndUs);
  const shortestUs = Math.min(
    ...sameKind.map((response) => headersOrEndUs(response) - (response.exchange.timeline.sentUs ?? 0)),
  );
  return Math.max(...endsUs) - shortestUs * SURE_SHARE < Math.min(...endsUs);
}

/** Whether all requests that fill the limit were sent before the late one; opening a connection may take a second. */
function wereSentBefore({ held, extra }: LateRequest): boolean {
  const sentUs = ({ exchange: { timeline } }: Response) => timeline.sentUs ?? Number.POSITIVE_INFINITY;
  return Math.max(...held.map(sentUs)) < sentUs(extra);
}

const servedBefore = (response: Response, us: number): boolean =>
  isServed(response) && (response.exchange.timeline.headersUs ?? Number.POSITIVE_INFINITY) < us;

export const silentStreams = defineCheck({
  id: "limits.concurrency-silent-streams",
  scenario: concurrencyScenario,
  basis: "timing",
  title: "Streams of a slow model count as in flight before their first token",
  covers: ["LIMIT-CONC-3"],
  explains:
    "Streams of a slow model fill the concurrency limit, and one more request is sent while they run: it must be denied, even if the streams have not sent a token yet.",
  needs: ["model.slow"],
  judge({ lateStream }, verdict) {
    if (lateStream === null)
      return verdict.notApplicable("the slow model is not slow, or the account's rate has no room for more streams");
    const { held, extra } = lateStream;
    if (!held.every(isServed)) return verdict.notApplicable("the slow model did not serve as many streams");
    if (!wereSentBefore(lateStream))
      return verdict.inconclusive("one of the streams was sent so late that another request overtook it");
    const firstDoneUs = Math.min(...held.map(({ exchange }) => exchange.timeline.endUs));
    verdict.must("LIMIT-CONC-3", servedBefore(extra, firstDoneUs), false, {
      in: extra,
      because: "served while streams of a slow model filled the concurrency limit",
    });
  },
});
