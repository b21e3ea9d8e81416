import { NO_USAGE, type Usage } from "../relay/usage.ts";
import { imageReader, jsonWriter } from "./capable-models.ts";
import { dropMidstream, failHtml, failing, failTimeout } from "./failing-models.ts";
import { echoFast, echoStream, shoutFast, slow, transcript } from "./plain-models.ts";
import type { Provider } from "./plan.ts";
import { countPieces } from "./text-pieces.ts";
import { toolCaller } from "./tool-caller.ts";

/** Reserved for a reply whose length the caller does not limit. */
const UNBOUNDED_TOKENS = 1_024;

/** A real provider: only an upper bound of its reply's length is known. */
const relayed: Provider = ({ turns, maxTokens = UNBOUNDED_TOKENS }) => ({
  kind: "relay",
  inputTokens: turns.reduce((sum, { text }) => sum + countPieces(text), 0),
  mostOutputTokens: maxTokens,
});

/** The price of a request, whole micro-dollars. */
export interface Price {
  readonly perRequest: number;
  readonly perInputToken: number;
  readonly perOutputToken: number;
  /** Of input tokens that were read from or written to a provider's cache; default: that of other input tokens. */
  readonly perCachedToken?: number;
  readonly perCacheWrite5mToken?: number;
  readonly perCacheWrite1hToken?: number;
}

export interface Model {
  readonly id: string;
  readonly provider: Provider;
  readonly price: Price;
  readonly takesImages?: true;
  /** The provider's model, if it has another name there. */
  readonly aliasOf?: string;
}

const PLAIN: Price = { perRequest: 100, perInputToken: 1, perOutputToken: 2 };
const LARGE: Price = { perRequest: 100, perInputToken: 2, perOutputToken: 4 };
const RELAYED: Price = {
  perRequest: 0,
  perInputToken: 4,
  perCachedToken: 1,
  perCacheWrite5mToken: 5,
  perCacheWrite1hToken: 8,
  perOutputToken: 20,
};
/** Half of it. */
const RELAYED_ALIAS: Price = { perRequest: 0, perInputToken: 2, perOutputToken: 10 };

/** The models of a gateway, in the order of its list. */
export const MODELS: readonly Model[] = [
  { id: "echo-fast", provider: echoFast, price: PLAIN },
  { id: "shout-fast", provider: shoutFast, price: LARGE },
  { id: "transcript", provider: transcript, price: PLAIN },
  { id: "echo-stream", provider: echoStream, price: PLAIN },
  { id: "slow", provider: slow, price: PLAIN },
  { id: "tool-caller", provider: toolCaller, price: LARGE },
  { id: "image-reader", provider: imageReader, price: LARGE, takesImages: true },
  { id: "json-writer", provider: jsonWriter, price: LARGE },
  { id: "fail-500", provider: failing(500), price: PLAIN },
  { id: "fail-502", provider: failing(502), price: PLAIN },
  { id: "fail-503", provider: failing(503), price: PLAIN },
  { id: "fail-529", provider: failing(529), price: PLAIN },
  { id: "fail-401", provider: failing(401), price: PLAIN },
  { id: "fail-402", provider: failing(402), price: PLAIN },
  { id: "fail-429", provider: failing(429), price: PLAIN },
  { id: "fail-timeout", provider: failTimeout, price: PLAIN },
  { id: "fail-html", provider: failHtml, price: PLAIN },
  { id: "drop-midstream", provider: dropMidstream, price: PLAIN },
];

/** A model of a real provider. */
export function relayedModel(id: string): Model {
  return { id, provider: relayed, price: RELAYED };
}

/** A second, cheaper model of a real provider, under a name that only this gateway knows. */
export function relayedAlias(id: string): Model {
  return { id: `${id}-alias`, provider: relayed, price: RELAYED_ALIAS, aliasOf: `${id}-small` };
}

export function isRelayed({ provider }: Model): boolean {
  return provider === relayed;
}

/** @returns what a request with this usage costs, whole micro-dollars. */
export function costOf({ price }: Pick<Model, "price">, usage: Partial<Usage>): number {
  const { inputTokens, cachedTokens, cacheWrite5mTokens, cacheWrite1hTokens, outputTokens } = { ...NO_USAGE, ...usage };
  const { perInputToken, perCachedToken, perCacheWrite5mToken, perCacheWrite1hToken } = price;
  return (
    price.perRequest +
    (inputTokens - cachedTokens - cacheWrite5mTokens - cacheWrite1hTokens) * perInputToken +
    cachedTokens * (perCachedToken ?? perInputToken) +
    cacheWrite5mTokens * (perCacheWrite5mToken ?? perInputToken) +
    cacheWrite1hTokens * (perCacheWrite1hToken ?? perInputToken) +
    outputTokens * price.perOutputToken
  );
}
