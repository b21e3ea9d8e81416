import type { Asked } from "../checks/index.ts";
import { isObject, member } from "../core/index.ts";
import type { Exchange } from "../http-recorder/index.ts";

/** A kept line; what a kill or another hand left of one is passed over. */
export function isExchangeLine(line: unknown): line is { asked: Asked; exchange: Exchange } {
  return typeof member(member(line, "exchange"), "id") === "string" && isObject(member(line, "asked"));
}
