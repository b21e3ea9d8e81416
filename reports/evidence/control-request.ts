import type { CheckResult } from "../../src/record/index.ts";
import type { Evidence } from "./evidence.ts";
import type { ReportSource } from "./source.ts";

/**
 * The control request that a finding about a request states, or else a valid, admitted request of the same check: shown next to the
 * request, it makes the one change visible.
 *
 * @returns `undefined` when the request is itself valid, or no control request was recorded.
 */
export function controlOf(
  check: CheckResult,
  of: Evidence,
  source: Pick<ReportSource, "evidence">,
): Evidence | undefined {
  if (of.requested.intent === "good") return undefined;
  const stated = check.findings.find(({ control, exchanges }) => control !== undefined && exchanges.includes(of.id));
  const control = stated?.control === undefined ? undefined : source.evidence(stated.control);
  if (control !== undefined) return control;
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
