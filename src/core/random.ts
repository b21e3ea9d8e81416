/** Uniform numbers in [0, 1). */
export type Random = () => number;

/**
 * A small seeded generator (mulberry32): the same seed gives the same run on every machine, which `Math.random` cannot.
 *
 * @param seed any integer; only its low 32 bits count.
 */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
