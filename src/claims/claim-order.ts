import { groupBy } from "../core/index.ts";
import type { Claim } from "./claim.ts";

/** The claims of one gateway, the newest version first. */
export interface GatewayClaims<T extends { readonly claim: Claim }> {
  readonly name: string;
  readonly claims: readonly [T, ...T[]];
}

/** Claims by the name of their gateway, in alphabetical order. */
export function byGateway<T extends { readonly claim: Claim }>(files: readonly T[]): GatewayClaims<T>[] {
  return [...groupBy(files, ({ claim }) => claim.gateway.name)]
    .map(([name, claims]) => ({ name, claims: claims.sort((a, b) => -compareClaims(a.claim, b.claim)) }))
    .sort((a, b) => compareText(a.name, b.name));
}

/** By version, if both versions begin with a number (`1.9` before `1.10`); otherwise by the date of the run. */
function compareClaims(a: Claim, b: Claim): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return compareText(a.run.startedAt, b.run.startedAt) || compareText(a.run.id, b.run.id);
}

/** `v1.42.0-rc1` has 1, 42 and 0. */
const numbersOf = ({ gateway }: Claim): number[] =>
  (/^v?(\d{1,9}(?:\.\d{1,9})*)/.exec(gateway.version ?? "")?.[1] ?? "")
    .split(".")
    .filter((part) => part !== "")
    .map(Number);

/** Independent of the locale. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
