import { formatNumber } from "../../core/index.ts";
import type { Target } from "../../target/index.ts";
import { planOf } from "../schedule/arrivals.ts";
import type { Workload } from "../workload/workload.ts";
import { thresholdBoundOf } from "./thresholds.ts";

/**
 * Checks, before anything is sent, whether a workload asks for more than its account is allowed, although its denials would fail it.
 *
 * @returns a sentence if it does.
 */
export function beyondLimit(
  { name, arrivals, allow, written }: Pick<Workload, "name" | "arrivals" | "allow" | "written">,
  { limits }: Pick<Target, "limits">,
): string[] {
  if (arrivals === undefined || limits === undefined) return [];
  if (allow.deniedShare > 0 || thresholdBoundOf(written, "deniedShare") !== undefined) return [];
  const { requests, durationS } = planOf(arrivals);
  if (requests === undefined || durationS === undefined) return [];
  const perMinute = Math.round(requests / Math.max(1, durationS / 60));
  if (perMinute <= limits.rpm) return [];
  return [
    `${name} sends about ${formatNumber(perMinute)} requests within one minute, but the account's limit is ${formatNumber(limits.rpm)}/min: a gateway that enforces it denies the rest, and denials fail the load. Lower its rate, or allow them with allow.deniedShare or a threshold on denied`,
  ];
}
