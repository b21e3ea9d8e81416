import {
  type Check,
  defineInvariant,
  describeOutage,
  isPermanent,
  type Outage,
  outagesIn,
  type Response,
} from "../../src/checks/index.ts";
import type { Verdict } from "../../src/judging/index.ts";
import { hasOutput } from "../shared/judge/has-output.ts";

const keepsServing = defineInvariant({
  id: "robustness.keeps-serving",
  title: "A model that was served is served until the end of the run",
  covers: ["BASE-3", "STEADY-SERVICE"],
  explains:
    "When a valid request for a model that was served before on an endpoint gets 404 or a 5xx, plain requests show whether the model is still served there at all. If two of them are rejected as well, the run waits until the model is served again, for 75 seconds at most; requests rejected meanwhile are sent again, and do not count against the gateway anywhere else. After upstream failures, which some checks provoke, a gateway may stop using a provider for a while (a circuit breaker, a cool-down): a 5xx is then what the specification requires, and a 404 is a warning, because it says that the model is not enabled. Without such a failure before it, a 404 is a failure, and so is a model that is not served again. A temporary 5xx is a warning, because a provider may be briefly unavailable, unless there are three or more such outages that together last more than 5 % of the run.",
  judgesStop: true,
  judge(responses, verdict) {
    const outages = outagesIn(responses);
    if (outages.length === 0) {
      if (!responses.some(isServed)) return verdict.inconclusive("no model was served");
      const seen = { because: "times in which a model that had been served was refused" };
      verdict.must("BASE-3", outages.length, 0, seen);
      verdict.should("STEADY-SERVICE", outages.length, 0, seen);
    }
    for (const outage of outages) judgeOutage(outage, verdict);
    judgeShare(outages.filter(isUnexplainedPause), responses, verdict);
  },
});

const isServed = (response: Response): boolean =>
  response.admitted && response.requested.endpoint !== "models" && hasOutput(response);

function judgeOutage(outage: Outage, verdict: Verdict): void {
  const { first, until, upstreamFailures } = outage;
  const seen = { in: first, at: "status" };
  const isExplained = upstreamFailures > 0;
  const failures = isExplained ? `; ${upstreamFailures} requests before it met upstream failures` : "";
  const because = describeOutage(outage) + failures;
  const isWrong = saysUnknown(outage) || isPermanent(outage);
  if (isWrong && !isExplained) verdict.must("BASE-3", "refused", "served", { ...seen, because });
  else if (isWrong || (until !== undefined && !isExplained))
    verdict.should("STEADY-SERVICE", "refused", "served", { ...seen, because });
  else if (until === undefined) verdict.markUndecided("inconclusive", `${because}; the run stopped waiting for it`);
  else verdict.observe("STEADY-SERVICE", because, { in: first });
}

/** Whether the response said that the model does not exist, not that it cannot be served at the moment. */
function saysUnknown({ first, refused }: Outage): boolean {
  return [first, ...refused].some(({ status }) => status === 404);
}

const isUnexplainedPause = (outage: Outage): boolean =>
  outage.upstreamFailures === 0 && outage.until !== undefined && !saysUnknown(outage);

/** Maximum number of pauses, each of which may be a provider's. */
const MAX_PAUSES = 2;
const MAX_OUTAGE_SHARE = 0.05;

/** Judges the length of the pauses, not the number of refused requests, because the run waits during a pause. */
function judgeShare(pauses: readonly Outage[], responses: readonly Response[], verdict: Verdict): void {
  const [pause] = pauses;
  if (pause === undefined) return;
  const { times, us } = together(pauses);
  const startUs = Math.min(...responses.map(({ exchange }) => exchange.timeline.dueUs));
  const runUs = Math.max(...responses.map(({ exchange }) => exchange.timeline.endUs)) - startUs;
  verdict.must("BASE-3", times > MAX_PAUSES && us > runUs * MAX_OUTAGE_SHARE, false, {
    in: pause.first,
    because: `models were temporarily refused ${times} times, for ${(us / 1e6).toFixed(1)} s of ${(runUs / 1e6).toFixed(1)} s in total`,
  });
}

/** Number of pauses and their total length: concurrent pauses of several models count as one. */
function together(pauses: readonly Outage[]): { readonly times: number; readonly us: number } {
  const startUs = ({ first }: Outage) => first.exchange.timeline.dueUs;
  let [times, us, endUs] = [0, 0, Number.NEGATIVE_INFINITY];
  for (const pause of [...pauses].sort((a, b) => startUs(a) - startUs(b))) {
    if (startUs(pause) > endUs) times++;
    const end = Math.max(endUs, pause.until?.exchange.timeline.endUs ?? endUs);
    us += Math.max(0, end - Math.max(endUs, startUs(pause)));
    endUs = end;
  }
  return { times, us };
}

export const KEEPS_SERVING: readonly Check[] = [keepsServing];
