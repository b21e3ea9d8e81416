import type { Observation } from "../../judging/index.ts";
import { audit, type ClientsOutcome } from "../obeying-clients.ts";
import { type Attempted, attemptOf } from "../tier/recovery.ts";
import type { ExternalRequest } from "./external-request.ts";

/** Clients as their attempts show them: who was served, who gave up, who came too early. */
export function clientsOf(sent: readonly (readonly [ExternalRequest, Observation])[]): ClientsOutcome<Attempted> {
  const clients = new Map<string, (readonly [number, Attempted])[]>();
  for (const [{ role, index, attempt, phase }, fact] of sent) {
    const name = `${phase} ${role} ${index}`;
    const own = clients.get(name) ?? [];
    own.push([attempt, attemptOf(fact) as Attempted]);
    clients.set(name, own);
  }
  const attempts = [...clients.values()].map((own) => own.sort(([a], [b]) => a - b).map(([, one]) => one));
  const lasts = attempts.map((own) => own.at(-1) as Attempted);
  const served = lasts.filter(({ fact }) => fact.outcome === "admitted").length;
  const uncertain = lasts.filter(({ timedOut }) => timedOut).length;
  return {
    served,
    uncertain,
    gaveUp: attempts.length - served - uncertain,
    // Clients of another engine share no number that could be lowered.
    parallel: attempts.length,
    attempts,
    ...audit(attempts),
  };
}
