import { isObject, type JsonObject } from "../../../core/index.ts";
import { type Variant, variant } from "../../change.ts";
import { readAs } from "../../edits/replies/body-edits.ts";
import { drop, put } from "../../edits/replies/json-edits.ts";
import { insteadOf } from "../../edits/replies/response-edits.ts";
import { modelIs } from "../../edits/when.ts";
import { type Apply, all, wrap } from "../../edits/wrap.ts";
import { before, NOTHING } from "./respond-before.ts";

const list = (edit: (data: readonly unknown[]) => unknown): Apply =>
  wrap(
    "listModels",
    (next) => (call) => put("data", (data: unknown) => (Array.isArray(data) ? edit(data) : data))(next(call)),
  );

/** Models of this variant: callable, and not in the list. */
const callable = (ids: readonly string[]): Apply =>
  wrap("findModel", (next) => (id, call) => {
    const echo = call.services.models.get("echo-fast");
    return next(id, call) ?? (echo !== undefined && ids.includes(id) ? { ...echo, id } : undefined);
  });

/** Models of this variant: in the list, and callable. */
const moreModels = (ids: readonly string[], fields: JsonObject = {}): Apply =>
  all(
    list((data) => [...data, ...ids.map((id) => ({ id, object: "model", created: 1, owned_by: "vendor", ...fields }))]),
    callable(ids),
  );

/** About 1.3 kB, as in the catalogues of many vendors for each model. */
const DESCRIPTION = "A model of the catalogue. ".repeat(50);

/** Spelled almost like the plain models of the list. */
const RESEMBLING = ["ECHO-FAST", "echo-fas", "gauntlet/echo-fast"];

const ALIAS = "default";
const EMBEDDING = "embed-small";

const SHORTENED_TO = 1_000;

/** What the list of models shows, and how a model uses its prompt. */
export const MODELS_VARIANTS: readonly Variant[] = [
  variant(
    "models.unusual-ids",
    "The list has callable ids with slashes, colons, spaces and non-ASCII letters.",
    moreModels(["vendor/model-1:free", "org/team/model@2", "modèle été", "UPPER_case.v1"]),
  ),
  variant(
    "models.many",
    "The list has eight hundred models.",
    moreModels(Array.from({ length: 800 }, (_none, at) => `catalogue/model-${at}`)),
  ),
  variant(
    "models.five-megabytes",
    "The list is 5 MB: four thousand models with a long description each.",
    moreModels(
      Array.from({ length: 4_000 }, (_none, at) => `catalogue/described-${at}`),
      { description: DESCRIPTION },
    ),
  ),
  variant(
    "models.reversed",
    "The list is in another order.",
    list((data) => data.toReversed()),
  ),
  variant(
    "models.twice",
    "The list has some models twice.",
    list((data) => [...data, ...data.slice(0, 3)]),
  ),
  variant(
    "models.ids-only",
    "List entries have only an id.",
    all(
      list((data) => data.map((entry) => (isObject(entry) ? { id: entry["id"] } : entry))),
      wrap("listModels", (next) => (call) => drop("object")(next(call))),
    ),
  ),
  variant(
    "models.more-fields",
    "List entries have extra fields.",
    list((data) =>
      data.map((entry) => ({
        ...(entry as object),
        context_window: 8_192,
        pricing: { input: "0.000001" },
        permission: [],
        parent: null,
      })),
    ),
  ),
  variant(
    "models.paged-look",
    "The list has pagination fields.",
    wrap("listModels", (next) => (call) => ({
      ...(next(call) as object),
      has_more: false,
      first_id: "echo-fast",
      last_id: "drop-midstream",
    })),
  ),
  variant(
    "models.resembling",
    "The list has models whose ids differ only in letter case, length or provider.",
    moreModels(RESEMBLING),
  ),
  variant(
    "models.more-pages",
    "The list is the first of several pages, and models on the others resemble its models.",
    all(
      wrap("listModels", (next) => (call) => ({ ...(next(call) as object), has_more: true })),
      callable(RESEMBLING),
    ),
  ),
  variant(
    "models.alias",
    "The list has an alias for a model, and replies to it name the real model.",
    all(
      list((data) => [{ id: ALIAS, object: "model", created: 1, owned_by: "vendor" }, ...data]),
      readAs(modelIs(ALIAS), (body) => ({ ...body, model: "shout-fast" })),
    ),
  ),
  {
    ...variant(
      "models.shorten-long-texts",
      "The model that repeats its prompt stops after 1,000 characters, and its usage counts only these.",
      wrap("plan", (next) => (model, request, call) => {
        const plan = next(model, request, call);
        if (plan.kind !== "reply" || model.id !== "echo-fast") return plan;
        let characters = 0;
        const pieces = plan.pieces.filter((piece) => {
          characters += piece.kind === "text" ? piece.text.length : 0;
          return characters <= SHORTENED_TO;
        });
        return { ...plan, pieces };
      }),
    ),
    blocks: ["robustness.text"],
  },
  variant(
    "models.other-kinds",
    "The list has a model that rejects chat requests with an explanation.",
    all(
      list((data) => [...data, { id: EMBEDDING, object: "model", created: 1, owned_by: "vendor" }]),
      before((call) =>
        isObject(call.parsed) &&
        call.parsed["model"] === EMBEDDING &&
        call.behaviour.check("credentials", call) === undefined
          ? insteadOf("invalid_request", { message: "This model only makes embeddings." })(NOTHING, call)
          : undefined,
      ),
    ),
  ),
];
