import type { Provider } from "./plan.ts";
import { countPieces } from "./text-pieces.ts";

/** Reserved for a reply whose length the caller does not limit. */
const UNBOUNDED_TOKENS = 1_024;

/** A real provider: only an upper bound of its reply's length is known. */
export const relayed: Provider = ({ turns, maxTokens = UNBOUNDED_TOKENS }) => ({
  kind: "relay",
  inputTokens: turns.reduce((sum, { text }) => sum + countPieces(text), 0),
  mostOutputTokens: maxTokens,
});
