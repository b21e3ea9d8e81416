import type { RequestInfo } from "../../checks/index.ts";
import { isObject, member } from "../../core/index.ts";
import type { Exchange } from "../../http/recorder/index.ts";

/** A recorded line; truncated or foreign lines are ignored. */
export function isExchangeLine(line: unknown): line is { requested: RequestInfo; exchange: Exchange } {
  return typeof member(member(line, "exchange"), "id") === "string" && isObject(member(line, "requested"));
}
