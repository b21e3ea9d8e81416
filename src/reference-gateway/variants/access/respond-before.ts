import { type Apply, wrap } from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import type { GatewayResponse } from "../../pipeline/response.ts";

/** An empty response, to be filled in or replaced by a refusal. */
export const NOTHING: GatewayResponse = {
  status: 204,
  headers: [],
  body: { kind: "none" },
  afterMs: 0,
  outcome: "complete",
};

/** Responds to some requests before any other step. */
export const before = (response: (call: Call) => GatewayResponse | undefined): Apply =>
  wrap("respond", (next) => (call) => response(call) ?? next(call));
