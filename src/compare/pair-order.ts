import { seededRandom, shuffled } from "../core/index.ts";

/** Blocks of one round: both builds, and the first one again as the control. */
export type BlockName = "A" | "B" | "A'";

const ORDERS: readonly (readonly BlockName[])[] = [
  ["A", "B", "A'"],
  ["A'", "B", "A"],
  ["B", "A", "A'"],
  ["A", "A'", "B"],
  ["B", "A'", "A"],
  ["A'", "A", "B"],
];

/**
 * The order of the blocks in each round: shuffled and balanced, so that no build runs first or in the middle more often than the
 * others. In the field, a build that always ran second was 23 % "slower" than itself.
 */
export function roundOrders(rounds: number, seed: number): (readonly BlockName[])[] {
  const random = seededRandom(seed);
  const orders: (readonly BlockName[])[] = [];
  while (orders.length < rounds) orders.push(...shuffled(ORDERS, random));
  return orders.slice(0, rounds);
}
