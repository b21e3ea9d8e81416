import { isObject, member } from "../../../core/index.ts";
import { grid, type Mutation, mutation } from "../../change.ts";
import { drop, put, rename } from "../../edits/replies/json-edits.ts";
import { body, insteadOf, parcelBytes, status } from "../../edits/replies/response-edits.ts";
import {
  always,
  both,
  every,
  onEmptyAccount,
  onMessages,
  onModels,
  remembered,
  secondKey,
  streaming,
  type When,
} from "../../edits/when.ts";
import { type Apply, all, onDenial, onParcel, onServed, wrap } from "../../edits/wrap.ts";
import type { Model } from "../../providers/model-table.ts";
import { MODELS } from "../../providers/model-table.ts";

/** Changes the model list. */
const list = (edit: (value: unknown) => unknown): Apply => wrap("listModels", (next) => (call) => edit(next(call)));

/** Changes the entries of the list. */
const entries = (edit: (data: readonly unknown[]) => unknown): Apply =>
  list(put("data", (data: unknown) => (Array.isArray(data) ? edit(data) : data)));

const FALLBACK = MODELS[0] as Model;

/** A model that does not exist is served by the default one. */
const servedByDefault = (when: When): Apply =>
  wrap("findModel", (next) => (id, call) => next(id, call) ?? (when(call) ? FALLBACK : undefined));

/** The list, and its consistency with the callable models. */
export const MODELS_MUTATIONS: readonly Mutation[] = [
  ...grid(["MODELS-2"], entries, {
    "models.data-is-object": {
      breaks: ["MODELS-1"],
      summary: "data is an object keyed by id.",
      with: (data) => Object.fromEntries(data.map((entry) => [String(member(entry, "id")), entry])),
      detectedBy: { "models.list": "MODELS-1" },
    },
    "models.last-entry-without-id": {
      summary: "The last entry has no id.",
      with: (data) => data.map((entry, index) => (index === data.length - 1 ? drop("id")(entry) : entry)),
    },
    "models.name-for-id": {
      breaks: ["MODELS-2", "MODELS-3"],
      summary: "Entries have a name instead of an id.",
      with: (data) => data.map(rename("id", "name")),
    },
    "models.number-for-id": {
      summary: "One entry has a numeric id.",
      with: (data) => [...data, { id: 7, object: "model", created: 0, owned_by: "reference" }],
    },
    "models.empty-id": {
      summary: "One entry has an empty id.",
      with: (data) => [...data, { id: "", object: "model", created: 0, owned_by: "reference" }],
    },
    "models.strings": {
      breaks: ["MODELS-2", "MODELS-3"],
      summary: "The entries are ids instead of objects.",
      with: (data) => data.map((entry) => member(entry, "id")),
    },
    "models.null-entry": { summary: "One entry is null.", with: (data) => [null, ...data] },
    "models.prefixed-ids": {
      breaks: ["MODELS-3", "MODELS-4"],
      summary: "The list prefixes each id with its provider; the prefixed ids cannot be called.",
      with: (data) => data.map(put("id", (id: unknown) => `provider/${String(id)}`)),
    },
    "models.upper-case-ids": {
      breaks: ["MODELS-3", "MODELS-4"],
      summary: "The list shows ids in upper case; those ids cannot be called.",
      with: (data) => data.map(put("id", (id: unknown) => String(id).toUpperCase())),
    },
    "models.dead-entry": {
      breaks: ["MODELS-3", "MODELS-4"],
      summary: "The first entry of the list is a retired model.",
      with: (data) => [{ id: "retired-model", object: "model", created: 0, owned_by: "reference" }, ...data],
    },
    "models.callable-but-not-listed": {
      breaks: ["MODELS-3", "MODELS-4"],
      summary: "The plain models can be called but are not listed.",
      with: (data) => data.filter((entry) => !String(member(entry, "id")).endsWith("-fast")),
    },
    "models.entries-of-another-object": {
      breaks: ["COMPAT-MODELS"],
      summary: "Entries have the object type engine.",
      with: (data) => data.map(put("object", "engine")),
    },
    "models.created-is-text": {
      breaks: ["COMPAT-MODELS"],
      summary: "created is a date string in entries.",
      with: (data) => data.map((entry) => (isObject(entry) ? { ...entry, created: "2026-01-01T00:00:00Z" } : entry)),
    },
  }),
  ...grid(["MODELS-1"], list, {
    "models.bare-array": {
      summary: "The list is a bare array.",
      with: (value) => member(value, "data"),
      detectedBy: { "models.list": "MODELS-1" },
    },
    "models.other-field": {
      summary: "The entries are in a field named models.",
      with: rename("data", "models"),
      detectedBy: { "models.list": "MODELS-1" },
    },
    "models.list-of-another-object": {
      breaks: ["COMPAT-MODELS"],
      summary: "The list has the object type page.",
      with: put("object", "page"),
    },
  }),
  mutation("models.flickers", {
    breaks: ["MODELS-4", "MODELS-3"],
    summary: "Every third list omits its first model.",
    apply: onServed(
      every(3, onModels),
      body(put("data", (data: unknown) => (Array.isArray(data) ? data.slice(1) : data))),
    ),
  }),
  ...grid(["MODELS-1"], (when: When) => onServed(when, body(put("data", null))), {
    "models.null-now-and-then": {
      summary: "Every third list has null instead of entries.",
      with: every(3, onModels),
      detectedBy: { "models.list": "MODELS-1" },
    },
    "models.null-without-balance": {
      summary: "The list of an account with no balance has null instead of entries.",
      with: both(onModels, onEmptyAccount),
      shownBy: "checks",
    },
  }),
  mutation("models.500-now-and-then", {
    breaks: ["MODELS-1", "AUTH-1", "STEADY-SERVICE", "BASE-3"],
    summary: "Every fourth list request gets 500.",
    apply: onServed(every(4, onModels), insteadOf("internal_error")),
    detectedBy: { "models.list": "MODELS-1" },
  }),
  mutation("models.cut-short", {
    breaks: ["MODELS-1", "JSON-TEXT"],
    summary: "The list is truncated in the middle of an entry.",
    apply: onParcel(
      onModels,
      parcelBytes((bytes) => bytes.subarray(0, bytes.length - 40)),
    ),
  }),
  mutation("models.304", {
    breaks: ["MODELS-1"],
    summary: "The list is sent with 304, as if unchanged.",
    apply: onServed(onModels, (response) => ({ ...response, status: 304, body: { kind: "none" } })),
    mayBreak: ["AUTH-1", "BASE-1", "BASE-2", "VER-1"],
  }),
  mutation("models.dead-entry-for-second-key", {
    breaks: ["MODELS-3", "MODELS-4"],
    summary: "The second key's list has a retired model.",
    apply: wrap("listModels", (next) => (call) => {
      const retired = { id: "retired-model", object: "model", created: 0, owned_by: "reference" };
      const add = put("data", (data: unknown) => [...(data as unknown[]), retired]);
      return secondKey(call) ? add(next(call)) : next(call);
    }),
    shownBy: "checks",
  }),
  mutation("models.not-listed-for-second-key", {
    breaks: ["MODELS-3", "MODELS-4"],
    summary: "The second key can call the plain models, but its list omits them.",
    apply: wrap("listModels", (next) => (call) => {
      const leave = put("data", (data: unknown) =>
        (data as unknown[]).filter((entry) => !String(member(entry, "id")).endsWith("-fast")),
      );
      return secondKey(call) ? leave(next(call)) : next(call);
    }),
    shownBy: "checks",
  }),
  mutation("models.lists-what-it-refused", {
    breaks: ["ERR-404-1", "MODELS-3", "MODELS-4"],
    summary: "An id that was rejected as unknown is listed from then on.",
    apply: (() => {
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
    mayBreak: ["OWN-ANSWER"],
  }),
  ...grid(["ERR-404-MODEL", "STREAM-2"], servedByDefault, {
    "models.unknown-served-by-default": {
      breaks: ["ERR-404-MODEL", "STREAM-2"],
      summary: "A model that does not exist is served by the default model.",
      with: always,
      mayBreak: ["SPEND-10"],
    },
    "models.unknown-served-on-stream": {
      breaks: ["ERR-404-MODEL", "STREAM-2"],
      summary: "A streaming request for a model that does not exist is served by the default model.",
      with: streaming,
      mayBreak: ["SPEND-10"],
    },
    "models.unknown-served-on-messages": {
      breaks: ["ERR-404-MODEL", "STREAM-2"],
      summary: "A model that does not exist is served by the default model on the messages endpoint.",
      with: onMessages,
      mayBreak: ["SPEND-10"],
    },
  }),
  mutation("models.unknown-beyond-ascii-500", {
    breaks: ["ERR-404-MODEL"],
    summary: "A model that does not exist and has a non-ASCII id gets 500.",
    apply: onDenial(
      "model_not_found",
      (call) => /[^ -~]/.test(String(member(call.parsed, "model"))),
      insteadOf("internal_error"),
    ),
    shownBy: "checks",
  }),
  mutation("models.unknown-empty-success", {
    breaks: ["ERR-404-MODEL", "ERR-200-1"],
    summary: "A model that does not exist gets 200 with the error in the body.",
    apply: onDenial("model_not_found", always, status(200)),
    mayBreak: ["ERR-402-CREDITS", "ERR-402-QUOTA", "ERR-429-BUDGET"],
  }),
  mutation("models.goes-missing", {
    breaks: ["MODELS-3", "MODELS-4", "CHAT-1", "CHAT-4", "MSG-1", "STEADY-SERVICE"],
    summary: "Every ninth request for an enabled model gets model_not_found.",
    apply: wrap("findModel", (next) => {
      const unlucky = every(9);
      return (id, call) => (unlucky(call) ? undefined : next(id, call));
    }),
  }),
  mutation("models.unknown-as-unknown-path", {
    breaks: ["ERR-404-MODEL", "ERR-HDR-1"],
    summary: "A model that does not exist is reported as an unknown path.",
    apply: onDenial("model_not_found", always, insteadOf("not_found")),
  }),
];
