import { didYouMean, UsageError } from "../../core/index.ts";
import { type Check, type Instance, instancesOf, suiteOf } from "./check.ts";

export interface Selection {
  /** Suites by name; empty selects all. */
  readonly suites?: readonly string[];
  /** Check ids, instance ids, or requirements; empty selects all. */
  readonly only?: readonly string[];
}

/**
 * Instances that a selection matches.
 *
 * @throws UsageError for a name that matches nothing: otherwise a run without checks would look like a pass.
 */
export function select(checks: readonly Check[], { suites = [], only = [] }: Selection): Instance[] {
  const known = [...new Set(checks.map(({ id }) => suiteOf(id)))];
  const all = checks.flatMap(instancesOf);
  for (const suite of suites) {
    if (known.includes(suite)) continue;
    if (all.some(matches(suite))) {
      const hint = `Select it with --only ${suite}.`;
      throw new UsageError(`"${suite}" is a check or a requirement, not a suite`, { hint });
    }
    throw unknown("suite", suite, known);
  }
  const instances = checks.filter(({ id }) => suites.length === 0 || suites.includes(suiteOf(id))).flatMap(instancesOf);
  if (only.length === 0) return instances;
  for (const name of only) {
    if (instances.some(matches(name))) continue;
    const owners = [...new Set(all.filter(matches(name)).map(({ check }) => suiteOf(check.id)))];
    if (owners.length > 0) throw inOtherSuites(name, owners, suites);
    if (known.includes(name)) {
      const hint = `Select it without --only: \`gauntlet conform ${name}\`.`;
      throw new UsageError(`"${name}" is a suite, but --only takes checks and requirements`, { hint });
    }
    throw unknown(
      "check",
      name,
      instances.flatMap(({ id, check }) => [id, check.id, ...check.covers]),
    );
  }
  return instances.filter((instance) => only.some((name) => matches(name)(instance)));
}

/** Whether a name selects an instance: its id, the id of its check, or a requirement that the check covers. */
function matches(name: string): (instance: Instance) => boolean {
  return ({ id, check }) => id === name || check.id === name || check.covers.includes(name);
}

function inOtherSuites(name: string, owners: readonly string[], suites: readonly string[]): UsageError {
  const where = owners.length === 1 ? `the suite ${owners[0]}` : `the suites ${owners.join(", ")}`;
  return new UsageError(
    `${name} is in ${where}, but only ${suites.join(", ")} ${suites.length === 1 ? "is" : "are"} selected`,
    {
      hint: `Omit the suites, or add ${owners.join(" ")}.`,
    },
  );
}

/** A comma between two ids. Those in brackets separate the parameters of an instance. */
const BETWEEN_IDS = /,\s*(?![^[]*\])/;

function unknown(what: string, name: string, known: readonly string[]): UsageError {
  const parts = name.split(BETWEEN_IDS);
  if (what === "check" && parts.length > 1 && parts.every((part) => known.includes(part)))
    return new UsageError(`"${name}" lists ${parts.length} checks, but --only takes one`, {
      hint: `Repeat --only for each check: ${parts.map((part) => `--only '${part}'`).join(" ")}.`,
    });
  // List all suites, because there are few; there are too many checks for that.
  const list =
    what === "suite"
      ? `The suites are ${known.join(", ")}. To add your own, use --suite FILE.`
      : "`gauntlet checks` lists all.";
  const hint = `${didYouMean(name, known)}${list}`;
  return new UsageError(`there is no ${what} "${name}"`, { hint });
}
