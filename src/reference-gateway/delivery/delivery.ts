import type { ServerResponse } from "node:http";
import type { Closing } from "../pipeline/outcome.ts";

/** The way back to the client. */
export interface Delivery {
  readonly response: ServerResponse;
  /** To be called exactly once, when nothing more will be sent. */
  closed(closing: Closing): void;
}
