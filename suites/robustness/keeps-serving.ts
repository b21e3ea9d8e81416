import { type Check, defineInvariant, type Outage, outageInWords, outagesIn } from "../../src/checks/index.ts";
import type { Verdict } from "../../src/judging/index.ts";

const keepsServing = defineInvariant({
  id: "robustness.keeps-serving",
  title: "A model that was served is served until the end of the run",
  covers: ["BASE-3", "STEADY-SERVICE"],
  explains:
    "When a valid request for a model that had been served gets 404 or a 5xx, plain requests show whether the model is still served at all. If two of them are refused as well, the run waits until the model is served again, for 75 seconds at most; what was refused meanwhile is sent again, and is not held against the gateway anywhere else. After upstream failures, which some checks provoke, a gateway may leave a provider alone for a while (a circuit breaker, a cool-down): a 5xx then is what the specification demands, and a 404 is a warning, because it says that the model is not enabled. Without such a failure before it, a model that is refused is a failure.",
  judgesStop: true,
  judge(responses, verdict) {
    const outages = outagesIn(responses);
    if (outages.length === 0) verdict.should("STEADY-SERVICE", 0, 0, { because: "times in which a model was refused" });
    for (const outage of outages) judgeOutage(outage, verdict);
  },
});

function judgeOutage(outage: Outage, verdict: Verdict): void {
  const { first, until, upstreamFailures } = outage;
  const seen = { in: first, at: "status" };
  const because = outageInWords(outage);
  if (upstreamFailures === 0) {
    verdict.must("BASE-3", "refused", "served", { ...seen, because });
    return;
  }
  const cause = `${because}; ${upstreamFailures} requests before it met upstream failures`;
  if (until === undefined || (first.status ?? 0) < 500)
    verdict.should("STEADY-SERVICE", "refused", "served", { ...seen, because: cause });
  else verdict.observe("STEADY-SERVICE", cause, { in: first });
}

export const KEEPS_SERVING: readonly Check[] = [keepsServing];
