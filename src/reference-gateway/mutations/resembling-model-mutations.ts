import { member } from "../../core/index.ts";
import { type Mutation, mutation } from "../change.ts";
import { insteadOf } from "../edits/replies/response-edits.ts";
import { type Apply, onDenial, wrap } from "../edits/wrap.ts";
import { MODELS } from "../providers/model-table.ts";

/** An unknown model is served by the first one that matches its id. */
const matched = (matches: (enabled: string, requested: string) => boolean): Apply =>
  wrap("findModel", (next) => (id, call) => next(id, call) ?? MODELS.find((model) => matches(model.id, id)));

/** Ids that resemble an enabled model and are served by it. */
export const RESEMBLING_MODEL_MUTATIONS: readonly Mutation[] = [
  mutation(
    "models.matched-by-beginning",
    ["MODELS-4"],
    "An enabled model can be called by a prefix of its id.",
    matched((enabled, requested) => requested.length > 3 && enabled.startsWith(requested)),
  ),
  mutation(
    "models.more-behind-ignored",
    ["MODELS-4"],
    "Anything after the id of an enabled model is ignored.",
    matched((enabled, requested) => requested.startsWith(enabled)),
  ),
  mutation(
    "models.any-letter-case",
    ["MODELS-4"],
    "Models can be called in any letter case, but the list shows only one.",
    matched((enabled, requested) => enabled.toLowerCase() === requested.toLowerCase()),
  ),
  mutation(
    "models.any-provider",
    ["MODELS-4"],
    "The provider prefix of an enabled model's name is ignored.",
    matched((enabled, requested) => requested.endsWith(`/${enabled}`)),
  ),
  mutation(
    "models.passed-on-with-provider",
    ["MODELS-4"],
    "A model name with any provider prefix is passed on, and the provider's rejection becomes a 502.",
    onDenial(
      "model_not_found",
      ({ parsed }) => MODELS.some(({ id }) => String(member(parsed, "model")).endsWith(`/${id}`)),
      insteadOf("upstream_error"),
    ),
  ),
];
