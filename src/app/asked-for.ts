import { type Instance, type Selection, suiteOf } from "../checks/index.ts";
import type { Target } from "../target/index.ts";

/**
 * Without the instances that look at the gateway from its providers' side, where nobody named them and the target file says of no
 * such providers: most gateways are judged in front of real ones. Whoever names them is told what they lack.
 */
export function askedFor(
  instances: readonly Instance[],
  { suites = [], only = [] }: Selection,
  target: Pick<Target, "upstream">,
): readonly Instance[] {
  const isNamed = suites.includes("upstream") || only.some((name) => /^upstream\./i.test(name.replace("-", ".")));
  if (isNamed || target.upstream !== undefined) return instances;
  return instances.filter(({ check }) => suiteOf(check.id) !== "upstream");
}
