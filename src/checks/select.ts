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
  const all = checks.flatMap(instancesOf);
  for (const suite of suites) {
    if (known.includes(suite)) continue;
    if (all.some(matches(suite))) {
      const hint = `Name it with --only ${suite}.`;
      throw new UsageError(`"${suite}" is a check or a requirement, and suites are named here`, { hint });
    }
    throw unknown("suite", suite, known);
  }
  const instances = checks.filter(({ id }) => suites.length === 0 || suites.includes(suiteOf(id))).flatMap(instancesOf);
  if (only.length === 0) return instances;
  for (const wanted of only) {
    if (instances.some(matches(wanted))) continue;
    const elsewhere = [...new Set(all.filter(matches(wanted)).map(({ check }) => suiteOf(check.id)))];
    if (elsewhere.length > 0) throw ofOtherSuites(wanted, elsewhere, suites);
    if (known.includes(wanted)) {
      const hint = `Name it without --only: \`gauntlet conform ${wanted}\`.`;
      throw new UsageError(`"${wanted}" is a suite, and --only takes checks and requirements`, { hint });
    }
    throw unknown(
      "check",
      wanted,
      instances.flatMap(({ id, check }) => [id, check.id, ...check.covers]),
    );
  }
  return instances.filter((instance) => only.some((wanted) => matches(wanted)(instance)));
}

/** Whether an instance is one that a name means: its own, that of its check, or a requirement. */
function matches(wanted: string): (instance: Instance) => boolean {
  return ({ id, check }) =>
    id === wanted || check.id === wanted || (check.covers as readonly string[]).includes(wanted);
}

function ofOtherSuites(wanted: string, elsewhere: readonly string[], suites: readonly string[]): UsageError {
  const where = elsewhere.length === 1 ? `the suite ${elsewhere[0]}` : `the suites ${elsewhere.join(", ")}`;
  return new UsageError(
    `${wanted} is in ${where}, and only ${suites.join(", ")} ${suites.length === 1 ? "is" : "are"} selected`,
    {
      hint: `Leave the suites out, or add ${elsewhere.join(" ")}.`,
    },
  );
}

function unknown(what: string, name: string, known: readonly string[]): UsageError {
  const hint = `${didYouMean(name, known)}\`gauntlet checks\` lists all.`;
  return new UsageError(`there is no ${what} "${name}"`, { hint });
}
