import type { Response } from "../../../src/checks/index.ts";
import { member } from "../../../src/core/index.ts";
import { parseJson } from "../../../src/dialects/index.ts";

/** The requested model, as stated in the request. */
export function requestedModel({ exchange }: Response): unknown {
  return member(parseJson(exchange.request.body ?? ""), "model");
}
