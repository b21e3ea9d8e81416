import { didYouMean, UsageError } from "../core/index.ts";
import { type Check, type Instance, instancesOf, suiteOf } from "./check.ts";

export interface Selection {
  /** Suites by name; empty selects all. */
  readonly suites?: readonly string[];
  /** Check ids, instance ids, or requirements; empty selects all. */
  readonly only?: readonly string[];
}

/**
 * Instances that a selection means.
 *
 * @throws UsageError for a name that matches nothing: it would silently select nothing, and nothing looks green.
 */
export function select(checks: readonly Check[], { suites = [], only = [] }: Selection): Instance[] {
  const known = [...new Set(checks.map(({ id }) => suiteOf(id)))];
  for (const suite of suites) {
    if (!known.includes(suite)) throw unknown("suite", suite, known);
  }
  const instances = checks.filter(({ id }) => suites.length === 0 || suites.includes(suiteOf(id))).flatMap(instancesOf);
  if (only.length === 0) return instances;
  const matches =
    (wanted: string) =>
    ({ id, check }: Instance) =>
      id === wanted || check.id === wanted || (check.covers as readonly string[]).includes(wanted);
  for (const wanted of only) {
    if (instances.some(matches(wanted))) continue;
    throw unknown(
      "check",
      wanted,
      instances.flatMap(({ id, check }) => [id, check.id, ...check.covers]),
    );
  }
  return instances.filter((instance) => only.some((wanted) => matches(wanted)(instance)));
}

function unknown(what: string, name: string, known: readonly string[]): UsageError {
  const hint = `${didYouMean(name, known)}\`gauntlet checks\` lists all.`;
  return new UsageError(`there is no ${what} "${name}"`, { hint });
}
