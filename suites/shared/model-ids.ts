import type { Response } from "../../src/checks/index.ts";
import { member } from "../../src/core/index.ts";
import { listEntries, parseJson } from "../../src/dialects/index.ts";

/** Ids of a model list. */
export function idsOf(list: Response): string[] {
  return listEntries(list.json).flatMap((entry) => {
    const id = member(entry, "id");
    return typeof id === "string" && id !== "" ? [id] : [];
  });
}

/** The model that was asked for; `undefined` where the request names none that can be read. */
export function requestedModel({ exchange }: Response): string | undefined {
  const model = member(parseJson(exchange.request.body ?? ""), "model");
  return typeof model === "string" ? model : undefined;
}
