import type { CheckResult } from "../src/record/index.ts";
import type { Evidence } from "./evidence.ts";
import type { ReportSource } from "./source.ts";

/**
 * The request of the same check that was good and was served: with it beside, the one thing that was changed is seen.
 *
 * @returns `undefined` when the request is itself a good one, or no control was kept.
 */
export function controlOf(
  check: CheckResult,
  of: Evidence,
  source: Pick<ReportSource, "evidence">,
): Evidence | undefined {
  if (of.requested.intent === "good") return undefined;
  return check.exchanges
    .filter((id) => id !== of.id)
    .map((id) => source.evidence(id))
    .find(
      (other): other is Evidence =>
        other !== undefined &&
        other.requested.intent === "good" &&
        other.requested.endpoint === of.requested.endpoint &&
        other.response !== undefined &&
        other.response.status < 300,
    );
}
