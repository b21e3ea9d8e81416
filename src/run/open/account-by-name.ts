import { didYouMean, UsageError } from "../../core/index.ts";
import { hasBothLimits, type Key, type Limits, type Target } from "../../target/index.ts";

/** An account of the target under the name that the user types. */
export interface NamedAccount {
  readonly key: Key;
  readonly second: Key | undefined;
  /** Limits in the target file; `undefined` if there are none. */
  readonly limits: Limits | undefined;
}

/** A limit declared as "none" is not a number that an analysis could start from. */
function known(limits: Limits | undefined): Limits | undefined {
  return limits === undefined || hasBothLimits(limits) ? limits : undefined;
}

/**
 * Finds an account by name: `valid`, a tier, or `limited.N`.
 *
 * @throws UsageError which lists the existing names.
 */
export function accountByName(target: Target, name: string): NamedAccount {
  const { keys, tiers, limited } = target;
  const accounts = new Map<string, NamedAccount>([
    ["valid", { key: keys.valid, second: keys.second, limits: known(target.limits) }],
    ...Object.entries(tiers),
    ...limited.map((account, index) => [`limited.${index}`, { ...account, limits: known(account.limits) }] as const),
  ]);
  const found = accounts.get(name);
  if (found !== undefined) return found;
  throw new UsageError(`the target has no account "${name}"`, {
    hint: `${didYouMean(name, accounts.keys())}It has ${[...accounts.keys()].join(", ")}.`,
  });
}
