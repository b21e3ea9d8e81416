import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { congruential32 } from "pure-rand/generator/congruential32";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** Uniform numbers in [0, 1). */
export type Random = () => number;

/** Number of first values to discard: they still depend on the seed, e.g. 0.99 for each of the first 20,000 seeds. */
const DISCARDED = 16;

/**
 * A seeded generator: the same seed gives the same run on every machine, which `Math.random` cannot.
 *
 * @param seed any integer; only its low 32 bits count.
 */
export function seededRandom(seed: number): Random {
  // The generator is linear in the bits of its seed: without the first step, neighbouring seeds draw correlated numbers.
  const generator = xoroshiro128plus(congruential32(seed).next());
  for (let index = 0; index < DISCARDED; index++) generator.next();
  return () => uniformFloat64(generator);
}
