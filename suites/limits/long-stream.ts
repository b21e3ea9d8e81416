import type { RequestSpec } from "../../src/checks/index.ts";
import { LONG_STORY } from "../shared/requests/texts.ts";

/** A stream that stays in flight for as long as the long model generates, on its own connection. */
export function longStream(key: RequestSpec["key"] & {}): RequestSpec {
  return {
    key,
    mode: "streaming",
    model: "stream",
    prompt: LONG_STORY,
    intent: "either",
    freshConnection: true,
  };
}
