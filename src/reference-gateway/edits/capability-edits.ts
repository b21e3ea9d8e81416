import { isObject, member } from "../../core/index.ts";
import { textPlan } from "../providers/text-plan.ts";
import type { When } from "./when.ts";
import { type Apply, wrap } from "./wrap.ts";

/** A turn of the request has an image, in either dialect's form. */
export const withImage: When = ({ parsed }) => {
  const turns = member(parsed, "messages");
  if (!Array.isArray(turns)) return false;
  return turns.some((turn) => {
    const content = member(turn, "content");
    return (
      Array.isArray(content) &&
      content.some((part) => isObject(part) && (part["type"] === "image_url" || part["type"] === "image"))
    );
  });
};

/** Changes the text of a structured-output reply. */
export function onStructuredText(when: When, edit: (text: string) => string): Apply {
  return wrap("plan", (next) => (model, request, call) => {
    const plan = next(model, request, call);
    if (plan.kind !== "reply" || request.format === undefined || !when(call)) return plan;
    const text = plan.pieces.map((piece) => (piece.kind === "text" ? piece.text : "")).join("");
    return textPlan(request, edit(text), plan);
  });
}
