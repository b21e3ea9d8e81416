import { isObject } from "../../../core/index.ts";
import { type Variant, variant } from "../../change.ts";
import { onStructuredText, withImage } from "../../edits/capability-edits.ts";
import { refuseBody } from "../../edits/replies/body-edits.ts";
import { always } from "../../edits/when.ts";
import { wrap } from "../../edits/wrap.ts";

/** Models that do what they claim in their own way. */
export const CAPABILITY_VARIANTS: readonly Variant[] = [
  variant(
    "images.not-mentioned",
    "The model accepts images but does not mention them.",
    wrap("readRequest", (next) => (call) => {
      const request = next(call);
      if ("reason" in request) return request;
      return { ...request, turns: request.turns.map((turn) => ({ ...turn, images: [] })) };
    }),
  ),
  variant(
    "images.refused",
    "No model accepts images.",
    refuseBody(withImage, { message: "This model takes text only." }),
    ["COMPAT-IMAGES"],
  ),
  variant(
    "structured.indented",
    "JSON for a schema has line breaks and spaces.",
    onStructuredText(always, (text) => `${JSON.stringify(JSON.parse(text), undefined, 2)}\n`),
  ),
  variant(
    "structured.other-order",
    "JSON for a schema has its fields in another order.",
    onStructuredText(always, (text) => {
      const value: unknown = JSON.parse(text);
      return isObject(value) ? JSON.stringify(Object.fromEntries(Object.entries(value).reverse())) : text;
    }),
  ),
  variant(
    "structured.escaped",
    "JSON for a schema escapes slashes and non-ASCII characters.",
    onStructuredText(always, (text) =>
      text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
    ),
  ),
];
