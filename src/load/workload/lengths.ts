import type { Random } from "../../core/index.ts";

/** A length, or the distribution that it is drawn from. */
export type Lengths =
  | number
  | { readonly kind: "uniform"; readonly from: number; readonly to: number }
  | { readonly kind: "logNormal"; readonly median: number; readonly sigma: number; readonly most: number }
  | { readonly kind: "empirical"; readonly lengths: readonly number[] };

/** @param random is not called for a constant. @returns a positive integer. */
export function drawLength(lengths: Lengths, random: Random): number {
  if (typeof lengths === "number") return lengths;
  switch (lengths.kind) {
    case "uniform":
      return lengths.from + Math.floor(random() * (lengths.to - lengths.from + 1));
    case "logNormal": {
      const { median, sigma, most } = lengths;
      // Box-Muller; 1 - random() is never 0.
      const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      return Math.max(1, Math.min(most, Math.round(median * Math.exp(sigma * normal))));
    }
    case "empirical":
      return lengths.lengths[Math.floor(random() * lengths.lengths.length)] as number;
  }
}

/** The maximum that can be drawn. */
export function longestOf(lengths: Lengths): number {
  if (typeof lengths === "number") return lengths;
  switch (lengths.kind) {
    case "uniform":
      return lengths.to;
    case "logNormal":
      return lengths.most;
    case "empirical":
      return lengths.lengths.reduce((longest, length) => Math.max(longest, length), 0);
  }
}
