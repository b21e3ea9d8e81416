import { isObject, member } from "../../core/index.ts";
import { type Mutation, mutation } from "../change.ts";
import { drop, put, rename } from "../edits/replies/json-edits.ts";
import { body, insteadOf, parcelBytes, status } from "../edits/replies/response-edits.ts";
import { always, both, every, onEmptyAccount, onModels, remembered, secondKey } from "../edits/when.ts";
import { type Apply, all, onDenial, onParcel, onServed, wrap } from "../edits/wrap.ts";
import type { Model } from "../providers/model-table.ts";
import { MODELS } from "../providers/model-table.ts";

/** Changes the model list. */
const list = (edit: (value: unknown) => unknown): Apply => wrap("listModels", (next) => (call) => edit(next(call)));

/** Changes the entries of the list. */
const entries = (edit: (data: readonly unknown[]) => unknown): Apply =>
  list(put("data", (data: unknown) => (Array.isArray(data) ? edit(data) : data)));

const FALLBACK = MODELS[0] as Model;

/** The list, and its consistency with the callable models. */
export const MODELS_MUTATIONS: readonly Mutation[] = [
  mutation(
    "models.data-is-object",
    ["MODELS-1"],
    "data is an object keyed by id.",
    entries((data) => Object.fromEntries(data.map((entry) => [String(member(entry, "id")), entry]))),
  ),
  mutation(
    "models.bare-array",
    ["MODELS-1"],
    "The list is a bare array.",
    list((value) => member(value, "data")),
  ),
  mutation(
    "models.other-field",
    ["MODELS-1"],
    "The entries are in a field named models.",
    list(rename("data", "models")),
  ),
  mutation(
    "models.flickers",
    ["MODELS-4", "MODELS-3"],
    "Every third list omits its first model.",
    onServed(every(3, onModels), body(put("data", (data: unknown) => (Array.isArray(data) ? data.slice(1) : data)))),
  ),
  mutation(
    "models.null-now-and-then",
    ["MODELS-1"],
    "Every third list has null instead of entries.",
    onServed(every(3, onModels), body(put("data", null))),
  ),
  mutation(
    "models.null-without-balance",
    ["MODELS-1"],
    "The list of an account with no balance has null instead of entries.",
    onServed(both(onModels, onEmptyAccount), body(put("data", null))),
  ),
  mutation(
    "models.500-now-and-then",
    ["MODELS-1", "AUTH-1", "STEADY-SERVICE", "BASE-3"],
    "Every fourth list request gets 500.",
    onServed(every(4, onModels), insteadOf("internal_error")),
  ),
  mutation(
    "models.cut-short",
    ["MODELS-1", "JSON-TEXT"],
    "The list is truncated in the middle of an entry.",
    onParcel(
      onModels,
      parcelBytes((bytes) => bytes.subarray(0, bytes.length - 40)),
    ),
  ),
  mutation(
    "models.304",
    ["MODELS-1"],
    "The list is sent with 304, as if unchanged.",
    onServed(onModels, (response) => ({ ...response, status: 304, body: { kind: "none" } })),
  ),
  mutation(
    "models.last-entry-without-id",
    ["MODELS-2"],
    "The last entry has no id.",
    entries((data) => data.map((entry, index) => (index === data.length - 1 ? drop("id")(entry) : entry))),
  ),
  mutation(
    "models.name-for-id",
    ["MODELS-2", "MODELS-3"],
    "Entries have a name instead of an id.",
    entries((data) => data.map(rename("id", "name"))),
  ),
  mutation(
    "models.number-for-id",
    ["MODELS-2"],
    "One entry has a numeric id.",
    entries((data) => [...data, { id: 7, object: "model", created: 0, owned_by: "reference" }]),
  ),
  mutation(
    "models.empty-id",
    ["MODELS-2"],
    "One entry has an empty id.",
    entries((data) => [...data, { id: "", object: "model", created: 0, owned_by: "reference" }]),
  ),
  mutation(
    "models.strings",
    ["MODELS-2", "MODELS-3"],
    "The entries are ids instead of objects.",
    entries((data) => data.map((entry) => member(entry, "id"))),
  ),
  mutation(
    "models.null-entry",
    ["MODELS-2"],
    "One entry is null.",
    entries((data) => [null, ...data]),
  ),
  mutation(
    "models.prefixed-ids",
    ["MODELS-3", "MODELS-4"],
    "The list prefixes each id with its provider; the prefixed ids cannot be called.",
    entries((data) => data.map(put("id", (id: unknown) => `provider/${String(id)}`))),
  ),
  mutation(
    "models.upper-case-ids",
    ["MODELS-3", "MODELS-4"],
    "The list shows ids in upper case; those ids cannot be called.",
    entries((data) => data.map(put("id", (id: unknown) => String(id).toUpperCase()))),
  ),
  mutation(
    "models.dead-entry",
    ["MODELS-3", "MODELS-4"],
    "The first entry of the list is a retired model.",
    entries((data) => [{ id: "retired-model", object: "model", created: 0, owned_by: "reference" }, ...data]),
  ),
  mutation(
    "models.callable-but-not-listed",
    ["MODELS-3", "MODELS-4"],
    "The plain models can be called but are not listed.",
    entries((data) => data.filter((entry) => !String(member(entry, "id")).endsWith("-fast"))),
  ),
  mutation(
    "models.dead-entry-for-second-key",
    ["MODELS-3", "MODELS-4"],
    "The second key's list has a retired model.",
    wrap("listModels", (next) => (call) => {
      const retired = { id: "retired-model", object: "model", created: 0, owned_by: "reference" };
      const add = put("data", (data: unknown) => [...(data as unknown[]), retired]);
      return secondKey(call) ? add(next(call)) : next(call);
    }),
  ),
  mutation(
    "models.not-listed-for-second-key",
    ["MODELS-3", "MODELS-4"],
    "The second key can call the plain models, but its list omits them.",
    wrap("listModels", (next) => (call) => {
      const leave = put("data", (data: unknown) =>
        (data as unknown[]).filter((entry) => !String(member(entry, "id")).endsWith("-fast")),
      );
      return secondKey(call) ? leave(next(call)) : next(call);
    }),
  ),
  mutation(
    "models.lists-what-it-refused",
    ["ERR-404-1", "MODELS-3", "MODELS-4"],
    "An id that was rejected as unknown is listed from then on.",
    (() => {
      const refused = remembered(() => new Set<string>());
      return all(
        onDenial("model_not_found", always, (response, call) => {
          refused(call).add(String(member(call.parsed, "model")));
          return response;
        }),
        wrap("listModels", (next) => (call) => {
          const added = [...refused(call)].map((id) => ({ id, object: "model", created: 0, owned_by: "reference" }));
          return put("data", (data: unknown) => [...(data as unknown[]), ...added])(next(call));
        }),
      );
    })(),
  ),
  mutation(
    "models.unknown-served-by-default",
    ["ERR-404-MODEL", "STREAM-2"],
    "A model that does not exist is served by the default model.",
    wrap("findModel", (next) => (id, call) => next(id, call) ?? FALLBACK),
  ),
  mutation(
    "models.unknown-served-on-stream",
    ["ERR-404-MODEL", "STREAM-2"],
    "A streaming request for a model that does not exist is served by the default model.",
    wrap("findModel", (next) => (id, call) => next(id, call) ?? (call.wantsStream ? FALLBACK : undefined)),
  ),
  mutation(
    "models.unknown-beyond-ascii-500",
    ["ERR-404-MODEL"],
    "A model that does not exist and has a non-ASCII id gets 500.",
    onDenial(
      "model_not_found",
      (call) => /[^ -~]/.test(String(member(call.parsed, "model"))),
      insteadOf("internal_error"),
    ),
  ),
  mutation(
    "models.unknown-served-on-messages",
    ["ERR-404-MODEL", "STREAM-2"],
    "A model that does not exist is served by the default model on the messages endpoint.",
    wrap("findModel", (next) => (id, call) => next(id, call) ?? (call.endpoint === "messages" ? FALLBACK : undefined)),
  ),
  mutation(
    "models.unknown-empty-success",
    ["ERR-404-MODEL", "ERR-200-1"],
    "A model that does not exist gets 200 with the error in the body.",
    onDenial("model_not_found", always, status(200)),
  ),
  mutation(
    "models.goes-missing",
    ["MODELS-3", "MODELS-4", "CHAT-1", "CHAT-4", "MSG-1", "STEADY-SERVICE"],
    "Every ninth request for an enabled model gets model_not_found.",
    wrap("findModel", (next) => {
      const unlucky = every(9);
      return (id, call) => (unlucky(call) ? undefined : next(id, call));
    }),
  ),
  mutation(
    "models.entries-of-another-object",
    ["COMPAT-MODELS"],
    "Entries have the object type engine.",
    entries((data) => data.map(put("object", "engine"))),
  ),
  mutation(
    "models.created-is-text",
    ["COMPAT-MODELS"],
    "created is a date string in entries.",
    entries((data) => data.map((entry) => (isObject(entry) ? { ...entry, created: "2026-01-01T00:00:00Z" } : entry))),
  ),
  mutation(
    "models.list-of-another-object",
    ["COMPAT-MODELS"],
    "The list has the object type page.",
    list(put("object", "page")),
  ),
  mutation(
    "models.unknown-as-unknown-path",
    ["ERR-404-MODEL", "ERR-HDR-1"],
    "A model that does not exist is reported as an unknown path.",
    onDenial("model_not_found", always, insteadOf("not_found")),
  ),
];
