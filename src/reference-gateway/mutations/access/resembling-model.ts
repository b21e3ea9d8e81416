import { member } from "../../../core/index.ts";
import { grid, type Mutation, mutation } from "../../change.ts";
import { insteadOf } from "../../edits/replies/response-edits.ts";
import { type Apply, onDenial, wrap } from "../../edits/wrap.ts";
import { MODELS } from "../../providers/model-table.ts";

/** An unknown model is served by the first one that matches its id. */
const matched = (matches: (enabled: string, requested: string) => boolean): Apply =>
  wrap("findModel", (next) => (id, call) => next(id, call) ?? MODELS.find((model) => matches(model.id, id)));

/** Ids that resemble an enabled model and are served by it. */
export const RESEMBLING_MODEL_MUTATIONS: readonly Mutation[] = [
  ...grid(["MODELS-4"], matched, {
    "models.matched-by-beginning": {
      summary: "An enabled model can be called by a prefix of its id.",
      with: (enabled, requested) => requested.length > 3 && enabled.startsWith(requested),
      detectedBy: { "errors.derived-model[chat]": "MODELS-4" },
      shownBy: "checks",
    },
    "models.more-behind-ignored": {
      summary: "Anything after the id of an enabled model is ignored.",
      with: (enabled, requested) => requested.startsWith(enabled),
      detectedBy: { "errors.derived-model[messages]": "MODELS-4" },
      shownBy: "checks",
    },
    "models.any-letter-case": {
      summary: "Models can be called in any letter case, but the list shows only one.",
      with: (enabled, requested) => enabled.toLowerCase() === requested.toLowerCase(),
      detectedBy: { "errors.derived-model[chat]": "MODELS-4" },
      shownBy: "checks",
    },
    "models.any-provider": {
      summary: "The provider prefix of an enabled model's name is ignored.",
      with: (enabled, requested) => requested.endsWith(`/${enabled}`),
      detectedBy: { "errors.derived-model[messages]": "MODELS-4" },
      shownBy: "checks",
    },
  }),
  mutation("models.passed-on-with-provider", {
    breaks: ["MODELS-4"],
    summary: "A model name with any provider prefix is passed on, and the provider's rejection becomes a 502.",
    apply: onDenial(
      "model_not_found",
      ({ parsed }) => MODELS.some(({ id }) => String(member(parsed, "model")).endsWith(`/${id}`)),
      insteadOf("upstream_error"),
    ),
    detectedBy: { "errors.derived-model[chat]": "MODELS-4" },
    shownBy: "checks",
  }),
];
