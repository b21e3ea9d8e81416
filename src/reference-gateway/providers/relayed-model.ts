import type { Provider } from "./plan.ts";
import { countPieces } from "./text-pieces.ts";

/** Held back for a reply whose length the caller does not bound. */
const UNBOUNDED_TOKENS = 1_024;

/** A real provider: how long its reply will be is only bounded. */
export const relayed: Provider = ({ turns, maxTokens = UNBOUNDED_TOKENS }) => ({
  kind: "relay",
  inputTokens: turns.reduce((sum, { text }) => sum + countPieces(text), 0),
  mostOutputTokens: maxTokens,
});
