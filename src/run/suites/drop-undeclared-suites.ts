import { type Instance, type Selection, suiteOf } from "../../checks/index.ts";
import type { Target } from "../../target/index.ts";

type Declared = Pick<Target, "upstream" | "tokenLimits" | "addresses" | "ledger">;

/**
 * Suites about features that most gateways lack or do not expose: the section of the target file that declares each, and their
 * requirements.
 */
const OPTIONAL: Readonly<Record<string, { readonly part: keyof Declared; readonly requirements: RegExp }>> = {
  upstream: { part: "upstream", requirements: /^UPSTREAM-/i },
  ledger: { part: "ledger", requirements: /^LEDGER-/i },
  replicas: { part: "addresses", requirements: /^REPLICA-/i },
  "token-limits": { part: "tokenLimits", requirements: /^TOKENS-/i },
};

/**
 * Drops instances of optional suites that are neither selected by name nor declared in the target file: most gateways are
 * tested in front of real providers and have no token limit. A user who names such a suite sees what is missing.
 */
export function dropUndeclaredSuites(
  instances: readonly Instance[],
  { suites = [], only = [] }: Selection,
  target: Declared,
): readonly Instance[] {
  return instances.filter(({ check }) => {
    const suite = suiteOf(check.id);
    const optional = OPTIONAL[suite];
    if (optional === undefined || target[optional.part] !== undefined || suites.includes(suite)) return true;
    return only.some((name) => suiteOf(name) === suite || optional.requirements.test(name));
  });
}

/** The optional suites that a target file does not declare, and the section that would declare each. */
export function undeclaredSuites(target: Declared): { readonly suite: string; readonly part: keyof Declared }[] {
  return Object.entries(OPTIONAL)
    .filter(([, { part }]) => target[part] === undefined)
    .map(([suite, { part }]) => ({ suite, part }));
}
