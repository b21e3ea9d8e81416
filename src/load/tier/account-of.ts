import { ConfigError } from "../../core/index.ts";
import { type Account, hasBothLimits, type Key, keysOf, type Target, TIER_LIMITS } from "../../target/index.ts";
import type { Workload } from "../workload/workload.ts";

/**
 * The account that a tier run loads: the one that the target reserves for the tier, otherwise that of `valid` if its limits are
 * known.
 *
 * @throws ConfigError with the lines that are missing from the target file.
 */
export function accountOf({ tier, name }: Workload, target: Target): Account {
  const own: Account = {
    key: target.keys.valid,
    second: target.keys.second,
    limits: target.limits ?? { rpm: 0, inFlight: 0 },
  };
  if (typeof tier === "object") return { ...own, limits: tier };
  if (tier === "own" && target.limits !== undefined && !hasBothLimits(target.limits))
    throw new ConfigError([
      {
        file: target.source,
        path: "limits",
        message: `${name} loads an account up to its limits, and the target declares that one of the two limits does not exist.`,
        hint: "Set the limits to try in the workload (`tier: { rpm: 6000, inFlight: 256 }`), or load without a tier.",
      },
    ]);
  const known = tier === undefined || tier === "own" ? undefined : target.tiers[tier];
  if (known !== undefined) return known;
  const expected = tier === undefined || tier === "own" ? target.limits : TIER_LIMITS[tier];
  const { limits } = target;
  if (expected !== undefined && limits?.rpm === expected.rpm && limits.inFlight === expected.inFlight) return own;
  throw new ConfigError([
    {
      file: target.source,
      path: tier === "own" ? "limits" : `tiers.${tier}`,
      message: `no account is known for ${name}.`,
      hint:
        tier === "own"
          ? "Set `limits: starter` or `limits: { rpm: 6000, inFlight: 256 }`."
          : `Set \`tiers: { ${tier}: { key: env:NAME } }\`, or \`limits: ${tier}\` when keys.valid is of that tier.`,
    },
  ]);
}

/** The keys that send a workload. @throws ConfigError if it loads a tier for which no account is known. */
export function keysOfLoad(workload: Workload, target: Target): readonly Key[] {
  return workload.tier === undefined ? [target.keys.valid] : keysOf(accountOf(workload, target));
}
