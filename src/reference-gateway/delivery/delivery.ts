import type { ServerResponse } from "node:http";
import type { Closing } from "../pipeline/outcome.ts";

/** The connection back to the client. */
export interface Delivery {
  readonly response: ServerResponse;
  /** Must be called exactly once, when nothing more will be sent. */
  closed(closing: Closing): void;
}
