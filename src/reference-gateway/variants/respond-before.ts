import { type Apply, wrap } from "../edits/wrap.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { GatewayResponse } from "../pipeline/response.ts";

/** An answer without anything in it, to be filled or to be put a refusal in place of. */
export const NOTHING: GatewayResponse = {
  status: 204,
  headers: [],
  body: { kind: "none" },
  afterMs: 0,
  outcome: "complete",
};

/** Answers some requests before anything else looks at them. */
export const before = (response: (call: Call) => GatewayResponse | undefined): Apply =>
  wrap("respond", (next) => (call) => response(call) ?? next(call));
