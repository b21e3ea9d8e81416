import { isObject } from "../../../core/index.ts";
import { type Variant, variant } from "../../change.ts";
import { put } from "../../edits/replies/json-edits.ts";
import { setHeader } from "../../edits/replies/response-edits.ts";
import { nonStreamingReply } from "../../edits/reply-kinds.ts";
import { both, onMessages, remembered, type When } from "../../edits/when.ts";
import { type Apply, all, onReply, onServed } from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";

/** The complete request, and its key. */
const keyOf = ({ endpoint, key, bodyText }: Call): string => `${endpoint} ${key?.account.id} ${bodyText}`;

/** A non-streaming request that was served before. */
const repeated = (): When => {
  const seen = remembered(() => new Set<string>());
  const first = remembered(() => new WeakSet<Call>());
  return both(nonStreamingReply, (call) => {
    const known = seen(call);
    const key = keyOf(call);
    if (!known.has(key)) first(call).add(call);
    known.add(key);
    return !first(call).has(call);
  });
};

/** Every number of a usage object becomes 0. */
const nothing = (usage: unknown): unknown =>
  isObject(usage)
    ? Object.fromEntries(Object.entries(usage).map(([name, count]) => [name, typeof count === "number" ? 0 : count]))
    : usage;

const sameReply: Apply = (() => {
  const replies = remembered(() => new Map<string, unknown>());
  const hit = repeated();
  return all(
    onReply(nonStreamingReply, (value, call) => {
      const known = replies(call).get(keyOf(call)) ?? value;
      replies(call).set(keyOf(call), known);
      return known;
    }),
    onServed(hit, setHeader("X-Cache", "HIT")),
  );
})();

/** Caches of replies to identical requests. */
export const REPLY_CACHE_VARIANTS: readonly Variant[] = [
  variant(
    "reply-cache.identical-requests",
    "A repeated request gets the same reply, with the same id and time.",
    sameReply,
  ),
  variant(
    "reply-cache.hits-count-nothing",
    "A cached reply reports no tokens, because none were generated.",
    onReply(repeated(), put("usage", nothing)),
  ),
  variant(
    "reply-cache.provider-caches-input",
    "Non-streaming messages replies count all input as read from the provider's cache.",
    onReply(
      onMessages,
      put("usage", (usage: unknown) => {
        const { input_tokens: input, ...rest } = usage as Record<string, number>;
        return { ...rest, input_tokens: 0, cache_read_input_tokens: input, cache_creation_input_tokens: 0 };
      }),
    ),
    ["COMPAT-USAGE"],
  ),
];
