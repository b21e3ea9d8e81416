import { type CheckResult, STATUSES, type Status } from "../../record/index.ts";

/** Statuses that say something about the gateway. */
const DECIDED: readonly Status[] = ["fail", "warn", "pass", "observed"];

/**
 * Merges the results of a check that was run several times. A MUST violated in some of the rounds makes it `flaky`: neither the
 * failures nor the passes may be dismissed as accidents.
 */
export function mergeRounds(rounds: readonly CheckResult[]): CheckResult {
  const [only] = rounds;
  if (only === undefined) throw new Error("a check without rounds has no result");
  if (rounds.length === 1) return only;
  const decided = rounds.filter(({ status }) => DECIDED.includes(status));
  const broken = rounds.find(({ status }) => status === "harness-error");
  const worst = broken ?? worstOf(decided.length > 0 ? decided : rounds);
  const times = decided.filter(({ status }) => status === worst.status).length;
  const flaky = worst.status === "fail" && times < decided.length;
  const counted = decided.length > 0 && (worst.status === "fail" || worst.status === "warn");
  return {
    ...worst,
    status: flaky ? "flaky" : worst.status,
    message: counted ? `${times} of ${decided.length} times: ${worst.message}` : worst.message,
    durationMs: rounds.reduce((sum, { durationMs }) => sum + durationMs, 0),
    rounds: rounds.map(({ status, message }) => ({ status, message })),
  };
}

/** Merges whole runs over the same instances. */
export function mergeRuns(runs: readonly (readonly CheckResult[])[]): CheckResult[] {
  const [first = []] = runs;
  const byId = runs.map((results) => new Map(results.map((result) => [result.id, result])));
  return first.map(({ id }) => mergeRounds(byId.flatMap((results) => results.get(id) ?? [])));
}

function worstOf(results: readonly CheckResult[]): CheckResult {
  const rank = ({ status }: CheckResult) => STATUSES.indexOf(status);
  return results.reduce((worst, result) => (rank(result) < rank(worst) ? result : worst));
}
