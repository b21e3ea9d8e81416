import { didYouMean, UsageError } from "../../core/index.ts";
import type { Claimed } from "../../record/index.ts";
import { type OptionalPart, PROFILE_NAMES } from "../../requirements/index.ts";
import type { Target } from "../../target/index.ts";

/**
 * The profiles that options name, each once.
 *
 * @throws UsageError for an unknown name.
 */
export function profilesNamed(names: readonly string[]): string[] {
  for (const name of names) {
    if (PROFILE_NAMES.includes(name)) continue;
    throw new UsageError(`--profile: there is no profile "${name}"`, {
      hint: didYouMean(name, PROFILE_NAMES).trim() || `Profiles: ${PROFILE_NAMES.join(", ")}.`,
    });
  }
  return [...new Set(names)];
}

/** What a run claims for a target; `undefined` if no profile is chosen. @param named replace those of the target file. */
export function claimedBy(target: Target, named: readonly string[]): Claimed | undefined {
  const profiles = named.length > 0 ? named : [...new Set(target.profiles)];
  if (profiles.length === 0) return undefined;
  return { profiles: [...profiles], declared: declaredParts(target) };
}

/** The optional parts that a target declares. */
function declaredParts({ dialects, ledger, models, tiers, tokenLimits, upstream }: Target): OptionalPart[] {
  const declares: Readonly<Record<OptionalPart, boolean>> = {
    "dialects.both": dialects.length === 2,
    ledger: ledger !== undefined,
    "ledger.prices": Object.keys(ledger?.prices ?? {}).length > 0,
    "models.chat.images": models.chat.images !== undefined,
    "models.chat.structured": models.chat.structured !== undefined,
    "models.messages.images": models.messages.images !== undefined,
    "models.messages.structured": models.messages.structured !== undefined,
    tiers: Object.keys(tiers).length > 0,
    tokenLimits: tokenLimits !== undefined,
    "upstream.attempts": upstream?.attempts !== undefined,
    "upstream.failover": (upstream?.failover.length ?? 0) > 1,
  };
  return (Object.keys(declares) as OptionalPart[]).filter((part) => declares[part]);
}
