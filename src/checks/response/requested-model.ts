import { member } from "../../core/index.ts";
import { parseJson } from "../../dialects/index.ts";
import type { Response } from "./response.ts";

/** Each of thousands of requests is read several times, so the body is parsed only once. */
const MODELS = new WeakMap<Response, { readonly model: string | undefined }>();

/** The model in the body of a request; `undefined` if the body has no readable model name. */
export function requestedModel(response: Response): string | undefined {
  const known = MODELS.get(response);
  if (known !== undefined) return known.model;
  const named = member(parseJson(response.exchange.request.body ?? ""), "model");
  const model = typeof named === "string" ? named : undefined;
  MODELS.set(response, { model });
  return model;
}
