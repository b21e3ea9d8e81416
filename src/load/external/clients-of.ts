import { groupBy } from "../../core/index.ts";
import type { Observation } from "../../judging/index.ts";
import { audit, type ClientsOutcome, isTimedOut } from "../schedule/compliant-clients.ts";

/** Reconstructs clients from their attempts: which were served, which stopped trying, which retried too early. */
export function clientsOf(observations: readonly Observation[]): ClientsOutcome<Observation> {
  const clients = groupBy(observations, ({ phase, role, index }) => `${phase} ${role} ${index}`);
  const attempts = [...clients.values()].map((own) => own.sort((a, b) => (a.attempt ?? 1) - (b.attempt ?? 1)));
  const lasts = attempts.map((own) => own.at(-1) as Observation);
  const served = lasts.filter(({ outcome }) => outcome === "admitted").length;
  const uncertain = lasts.filter(isTimedOut).length;
  return {
    served,
    uncertain,
    aborted: attempts.length - served - uncertain,
    // Clients of another engine do not share a limit that could be lowered.
    parallel: attempts.length,
    attempts,
    ...audit(attempts),
  };
}
