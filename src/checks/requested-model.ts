import { member } from "../core/index.ts";
import { parseJson } from "../dialects/index.ts";
import type { Response } from "./response.ts";

/** Thousands of requests are each looked at several times: the body is read once. */
const MODELS = new WeakMap<Response, { readonly model: string | undefined }>();

/** The model that a request asked for; `undefined` if its body has no readable model name. */
export function requestedModel(response: Response): string | undefined {
  const known = MODELS.get(response);
  if (known !== undefined) return known.model;
  const named = member(parseJson(response.exchange.request.body ?? ""), "model");
  const model = typeof named === "string" ? named : undefined;
  MODELS.set(response, { model });
  return model;
}
