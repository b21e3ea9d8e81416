import { InternalError, UsageError } from "../../core/index.ts";
import type { Dialect } from "../../dialects/index.ts";
import type { Target } from "../../target/index.ts";
import { permittedEvents } from "../events/permitted-events.ts";
import { kindOf } from "../schedule/arrivals.ts";
import type { Workload } from "./workload.ts";

type ServedTarget = Pick<Target, "dialects" | "disturb" | "source" | "authorized" | "limits" | "processes">;

/**
 * A workload without the requests in dialects that the target does not serve, whether from its mix or its trace. A tier run
 * chooses its requests based on the target. The actions of its events are those of the target.
 *
 * @throws UsageError if no requests remain.
 * @throws ConfigError if the target does not name an action, or an event must not be executed.
 */
export function servedWorkload(workload: Workload, target: ServedTarget): Workload {
  const { dialects } = target;
  const { arrivals, tier, name } = workload;
  if (tier !== undefined) return workload;
  const isServed = (dialect: Dialect) => dialects.includes(dialect);
  const served = workload.mix.filter(({ dialect }) => isServed(dialect));
  if (arrivals === undefined) throw new InternalError(`${name} has neither arrivals nor a tier`);
  const { trace } = kindOf(arrivals);
  // A trace line without a dialect uses that of the mix.
  const entries = trace
    ?.entries(arrivals)
    .filter(({ dialect }) => (dialect === undefined ? served.length > 0 : isServed(dialect)));
  if ((entries ?? served).length === 0) {
    throw new UsageError(`${name} has no request in a dialect that the target serves`, {
      hint: `The target declares dialects: [${dialects.join(", ")}].`,
    });
  }
  const mix = served.length === 0 ? workload.mix : served;
  const events = workload.events && permittedEvents(workload.events, target);
  return {
    ...workload,
    mix,
    ...(events && { events }),
    ...(entries && { arrivals: trace?.withEntries(arrivals, entries) }),
  };
}
