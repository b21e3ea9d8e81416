import { type Instance, type Selection, suiteOf } from "../checks/index.ts";
import type { Target } from "../target/index.ts";

type Declared = Pick<Target, "upstream" | "tokenLimits">;

/** Suites about what most gateways do not have, or do not show: the part of the target file that declares it, and their requirements. */
const OPTIONAL: Readonly<Record<string, { readonly part: keyof Declared; readonly requirements: RegExp }>> = {
  upstream: { part: "upstream", requirements: /^UPSTREAM-/i },
  "token-limits": { part: "tokenLimits", requirements: /^TOKENS-/i },
};

/**
 * Without the instances of optional suites that nobody named and that the target file does not declare: most gateways are judged in
 * front of real providers, and have no limit on tokens. Whoever names them is told what they lack.
 */
export function askedFor(
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
