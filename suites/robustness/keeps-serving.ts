import {
  type Check,
  defineInvariant,
  isForGood,
  isRefusedIn,
  type Outage,
  outageInWords,
  outagesIn,
  type Response,
} from "../../src/checks/index.ts";
import type { Verdict } from "../../src/judging/index.ts";
import { isAboveStrayShare, MIN_STRAYS } from "../shared/stray-share.ts";

const keepsServing = defineInvariant({
  id: "robustness.keeps-serving",
  title: "A model that was served is served until the end of the run",
  covers: ["BASE-3", "STEADY-SERVICE"],
  explains:
    "When a valid request for a model that had been served on an endpoint gets 404 or a 5xx, plain requests show whether the model is still served there at all. If two of them are refused as well, the run waits until the model is served again, for 75 seconds at most; what was refused meanwhile is sent again, and is not held against the gateway anywhere else. After upstream failures, which some checks provoke, a gateway may leave a provider alone for a while (a circuit breaker, a cool-down): a 5xx then is what the specification demands, and a 404 is a warning, because it says that the model is not enabled. Without such a failure before it, a 404 is a failure, and so is a model that is not served again. A 5xx that passes is a warning, because a provider may be away for a moment, unless it comes three times and to certainly more than 0.5 % of the valid requests (95 % interval).",
  judgesStop: true,
  judge(responses, verdict) {
    const outages = outagesIn(responses);
    if (outages.length === 0) verdict.should("STEADY-SERVICE", 0, 0, { because: "times in which a model was refused" });
    for (const outage of outages) judgeOutage(outage, verdict);
    judgeShare(outages.filter(isUnexplainedPause), responses, verdict);
  },
});

function judgeOutage(outage: Outage, verdict: Verdict): void {
  const { first, until, upstreamFailures } = outage;
  const seen = { in: first, at: "status" };
  const isExplained = upstreamFailures > 0;
  const failures = isExplained ? `; ${upstreamFailures} requests before it met upstream failures` : "";
  const because = outageInWords(outage) + failures;
  const isWrong = saysUnknown(outage) || isForGood(outage);
  if (isWrong && !isExplained) verdict.must("BASE-3", "refused", "served", { ...seen, because });
  else if (isWrong || (until !== undefined && !isExplained))
    verdict.should("STEADY-SERVICE", "refused", "served", { ...seen, because });
  else if (until === undefined) verdict.leaveOpen("inconclusive", `${because}: it was not waited for any longer`);
  else verdict.observe("STEADY-SERVICE", because, { in: first });
}

/** Whether it was said that there is no such model, and not that it cannot be served at the moment. */
function saysUnknown({ first, refused }: Outage): boolean {
  return [first, ...refused].some(({ status }) => status === 404);
}

const isUnexplainedPause = (outage: Outage): boolean =>
  outage.upstreamFailures === 0 && outage.until !== undefined && !saysUnknown(outage);

/** Several pauses, each of which might be a provider's, may be too many. */
function judgeShare(pauses: readonly Outage[], responses: readonly Response[], verdict: Verdict): void {
  const [first] = pauses;
  if (first === undefined) return;
  const good = responses.filter(({ asked }) => asked.intent === "good");
  const refused = good.filter((response) => isRefusedIn(pauses, response));
  const times = countApart(pauses);
  verdict.must("BASE-3", times >= MIN_STRAYS && isAboveStrayShare(refused.length, good.length), false, {
    in: first.first,
    because: `models were refused ${times} times for a while, and with them ${refused.length} of ${good.length} valid requests: certainly more than 0.5 %`,
  });
}

/** How many pauses there were, when those of several models at the same time are one. */
function countApart(pauses: readonly Outage[]): number {
  const startUs = ({ first }: Outage) => first.exchange.timeline.dueUs;
  let times = 0;
  let endUs = Number.NEGATIVE_INFINITY;
  for (const pause of [...pauses].sort((a, b) => startUs(a) - startUs(b))) {
    if (startUs(pause) > endUs) times++;
    endUs = Math.max(endUs, pause.until?.exchange.timeline.endUs ?? endUs);
  }
  return times;
}

export const KEEPS_SERVING: readonly Check[] = [keepsServing];
