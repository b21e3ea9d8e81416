import type { Response } from "../../src/checks/index.ts";
import { member } from "../../src/core/index.ts";
import { listEntries, parseJson } from "../../src/dialects/index.ts";

/** The model ids of a list response. */
export function idsOf(list: Response): string[] {
  return listEntries(list.json).flatMap((entry) => {
    const id = member(entry, "id");
    return typeof id === "string" && id !== "" ? [id] : [];
  });
}

/** The requested model; `undefined` if the request has no readable model name. */
export function requestedModel({ exchange }: Response): string | undefined {
  const model = member(parseJson(exchange.request.body ?? ""), "model");
  return typeof model === "string" ? model : undefined;
}
