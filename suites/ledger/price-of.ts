import type { LedgerPrice } from "../../src/target/index.ts";
import type { Tokens } from "./cases.ts";

/** What tokens cost at a price, micro-dollars. */
export function priceOf(price: LedgerPrice, tokens: Tokens): number {
  const { input, cachedInput, cacheWrite5m, cacheWrite1h, output } = tokens;
  return (
    price.perRequestMicroUsd +
    (input - cachedInput - cacheWrite5m - cacheWrite1h) * price.input +
    cachedInput * price.cachedInput +
    cacheWrite5m * price.cacheWrite5m +
    cacheWrite1h * price.cacheWrite1h +
    output * price.output
  );
}
