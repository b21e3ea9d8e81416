import type { Key, Limits, Target } from "../target/index.ts";

/** The account that a key belongs to, according to the target file. */
export function accountOfKey(key: Key | string): string {
  const name = typeof key === "string" ? key : key.name;
  if (name === "empty" || name === "emptySecond") return "empty";
  if (name === "other") return "other";
  if (name.startsWith("made.upgraded.")) return "upgraded";
  const set = /^(limited\.\d+|tiers\.\w+|tokenLimits)\./.exec(name);
  return set?.[1] ?? "main";
}

/** The limits of an account named by `accountOfKey`; `undefined` if the target file states none, or if they change. */
export function limitsOfAccount(target: Target, account: string): Limits | undefined {
  if (account === "main") return target.limits;
  const [set, which = ""] = account.split(".");
  if (set === "limited") return target.limited[Number(which)]?.limits;
  if (set === "tiers") return Object.entries(target.tiers).find(([tier]) => tier === which)?.[1].limits;
  // Requests without a valid key count against no account; there are few of them.
  return account === "none" ? { rpm: 6_000, inFlight: 64 } : undefined;
}
