import type { CheckResult } from "../record/index.ts";
import type { Behaviour } from "./drift.ts";

export interface CommonBehaviour {
  readonly a: Behaviour;
  readonly b: Behaviour;
  /** Check instances that both runs ran, but with requests that also served check instances of only one run. */
  readonly notCompared: number;
}

/**
 * The behaviour that two runs have in common: the check instances that both ran, and what was sent for them. Several check
 * instances may share requests, and a run sends more of them if it selects more of these check instances. Otherwise, a run of
 * more checks would seem to have another behaviour.
 */
export function commonBehaviour(a: Behaviour, b: Behaviour): CommonBehaviour {
  const [inA, inB] = [sendingChecks(a), sendingChecks(b)];
  const both = [...inA.keys()].filter((id) => inB.has(id));
  if (both.length === inA.size && both.length === inB.size) return { a, b, notCompared: 0 };
  const [onlyA, onlyB] = [exchangesOf(inA, (id) => !inB.has(id)), exchangesOf(inB, (id) => !inA.has(id))];
  const compared = new Set(
    both.filter((id) => sharesNoExchange(inA.get(id), onlyA) && sharesNoExchange(inB.get(id), onlyB)),
  );
  const part = (side: Behaviour, sending: ReadonlyMap<string, CheckResult>): Behaviour => {
    const others = exchangesOf(sending, (id) => !compared.has(id));
    return {
      checks: side.checks.filter(({ id }) => compared.has(id)),
      responses: new Map([...side.responses].filter(([id]) => !others.has(id))),
    };
  };
  return { a: part(a, inA), b: part(b, inB), notCompared: both.length - compared.size };
}

/** The checks that sent something themselves; an invariant only reads the traffic of the others. */
function sendingChecks({ checks, invariants }: Behaviour): ReadonlyMap<string, CheckResult> {
  const sending = checks.filter(({ id, exchanges }) => exchanges.length > 0 && invariants?.has(id) !== true);
  return new Map(sending.map((check) => [check.id, check]));
}

function exchangesOf(
  checks: ReadonlyMap<string, CheckResult>,
  isIncluded: (id: string) => boolean,
): ReadonlySet<string> {
  return new Set([...checks].flatMap(([id, { exchanges }]) => (isIncluded(id) ? exchanges : [])));
}

function sharesNoExchange(check: CheckResult | undefined, others: ReadonlySet<string>): boolean {
  return check?.exchanges.every((id) => !others.has(id)) === true;
}
