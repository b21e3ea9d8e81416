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
    .map(([name, claims]) => {
      const hasNumbers = claims.every(({ claim }) => numbersOf(claim).length > 0);
      const compare = hasNumbers ? compareVersions : compareDates;
      return { name, claims: claims.sort((a, b) => compare(b.claim, a.claim)) };
    })
    .sort((a, b) => compareText(a.name, b.name));
}

/** By the numbers that the versions begin with (`1.9` before `1.10`, `1.2` like `1.2.0`), then by the date of the run. */
function compareVersions(a: Claim, b: Claim): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return compareDates(a, b);
}

const compareDates = (a: Claim, b: Claim): number =>
  compareText(a.run.startedAt, b.run.startedAt) || compareText(a.run.id, b.run.id);

/** `v1.42.0-rc1` has 1, 42 and 0. */
const numbersOf = ({ gateway }: Claim): number[] =>
  (/^v?(\d{1,9}(?:\.\d{1,9})*)/.exec(gateway.version ?? "")?.[1] ?? "")
    .split(".")
    .filter((part) => part !== "")
    .map(Number);

/** Independent of the locale. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
