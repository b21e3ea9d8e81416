import { deepStrictEqual } from "node:assert";
import fc from "fast-check";

/** A property that must hold for any input. */
export interface Property {
  readonly name: string;
  /** Cost of one input, as a multiple of the cheapest: files and reports are slower than decoders. */
  readonly cost: number;
  /** Tries it with this many inputs. @throws with the smallest input that breaks it. */
  check(runs: number, seed?: number): Promise<void>;
}

export function property<Inputs extends [unknown, ...unknown[]]>(
  name: string,
  inputs: { readonly [Index in keyof Inputs]: fc.Arbitrary<Inputs[Index]> },
  holds: (...given: Inputs) => void | Promise<void>,
  cost = 1,
): Property {
  return {
    name,
    cost,
    check: (runs, seed) =>
      fc.assert(
        fc.asyncProperty(...inputs, async (...given) => {
          await holds(...(given as unknown as Inputs));
        }) as fc.IAsyncProperty<unknown>,
        { numRuns: runs, ...(seed === undefined ? {} : { seed }) },
      ),
  };
}

export function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** Compares whole values, `undefined` included. */
export const equal: (actual: unknown, expected: unknown) => void = deepStrictEqual;
