import { loadMutation, type Mutation, mutation } from "../change.ts";
import { missingKey, unknownKey } from "../edits/credential-kinds.ts";
import { insteadOf, status, text } from "../edits/replies/response-edits.ts";
import { both, every, fresh, onMessages, onModels, remembered, reused, streaming } from "../edits/when.ts";
import { onDenial, overlook, wrap } from "../edits/wrap.ts";

const UNKNOWN = ["AUTH-3", "ERR-401-INVALID"];
const MISSING = ["AUTH-2", "ERR-401-INVALID"];
const REVOKED = ["AUTH-4", "ERR-401-REVOKED"];

/** Which keys are accepted, and the responses to the others. */
export const AUTH_MUTATIONS: readonly Mutation[] = [
  mutation(
    "auth.list-without-key",
    [...MISSING, "MODELS-5"],
    "The model list needs no key.",
    overlook("invalid_api_key", both(onModels, missingKey)),
  ),
  mutation(
    "auth.list-to-browsers-without-key",
    [...MISSING, "MODELS-5"],
    "A client that accepts HTML gets the model list without a key.",
    overlook(
      "invalid_api_key",
      both(onModels, missingKey, ({ arrival }) => String(arrival.headers["accept"]).includes("text/html")),
    ),
  ),
  mutation(
    "auth.list-with-any-key",
    UNKNOWN,
    "The model list accepts any bearer key, issued or not.",
    overlook("invalid_api_key", both(onModels, unknownKey)),
  ),
  mutation(
    "auth.stream-without-key",
    [...MISSING, "STREAM-2"],
    "Streams are served without a key.",
    overlook("invalid_api_key", both(streaming, missingKey)),
  ),
  mutation(
    "auth.messages-with-any-key",
    [...UNKNOWN, "STREAM-2"],
    "The messages endpoint accepts unknown keys.",
    overlook("invalid_api_key", both(onMessages, unknownKey)),
  ),
  mutation(
    "auth.unknown-key-500",
    [...UNKNOWN, "ERR-HDR-1"],
    "A key that was never issued gets 500.",
    onDenial("invalid_api_key", unknownKey, insteadOf("internal_error")),
  ),
  mutation(
    "auth.unknown-key-403",
    UNKNOWN,
    "A key that was never issued gets 403.",
    onDenial("invalid_api_key", unknownKey, status(403)),
  ),
  mutation(
    "auth.unknown-key-400-on-messages",
    UNKNOWN,
    "A key that was never issued gets 400 on the messages endpoint.",
    onDenial("invalid_api_key", both(unknownKey, onMessages), status(400)),
  ),
  mutation(
    "auth.unknown-key-200",
    [...UNKNOWN, "ERR-200-1"],
    "A key that was never issued gets 200 with the error in the body.",
    onDenial("invalid_api_key", unknownKey, status(200)),
  ),
  mutation(
    "auth.missing-key-403",
    [...MISSING, "MODELS-5"],
    "A request without a key gets 403.",
    onDenial("invalid_api_key", missingKey, status(403)),
  ),
  mutation(
    "auth.missing-key-has-own-reason",
    [...MISSING, "MODELS-5", "ERR-HDR-1"],
    "A request without a key is denied with a custom reason, missing_api_key.",
    onDenial("invalid_api_key", missingKey, (response) => ({
      ...response,
      headers: response.headers.map(([name, value]) => [name, value === "invalid_api_key" ? "missing_api_key" : value]),
    })),
  ),
  mutation(
    "auth.missing-key-unknown-model-first",
    [...MISSING, "ERR-HDR-1"],
    "A chat request without a key gets model_not_found.",
    onDenial(
      "invalid_api_key",
      both(missingKey, (call) => call.endpoint === "chat"),
      insteadOf("model_not_found"),
    ),
  ),
  mutation(
    "auth.missing-key-302",
    [...MISSING, "MODELS-5"],
    "A request without a key is redirected to a login page.",
    onDenial("invalid_api_key", missingKey, (response) => ({
      ...response,
      status: 302,
      headers: [...response.headers, ["Location", "/login"]],
    })),
  ),
  mutation(
    "auth.list-401-plain",
    [...MISSING, "AUTH-3", "MODELS-5", "ERR-HDR-1", "ERR-BODY-2"],
    "An invalid key on the model list gets a bare 401: no reason, no error envelope.",
    onDenial("invalid_api_key", onModels, (response, call) => ({
      ...text("Unauthorized", "text/plain")(response, call),
      headers: [["WWW-Authenticate", "Bearer"]],
    })),
  ),
  mutation(
    "auth.revoked-as-invalid",
    [...REVOKED, "ERR-HDR-1"],
    "A revoked key is reported as unknown.",
    onDenial("key_revoked", () => true, insteadOf("invalid_api_key")),
  ),
  mutation(
    "auth.revoked-as-invalid-on-stream",
    [...REVOKED, "ERR-HDR-1", "STREAM-2"],
    "A revoked key is reported as unknown on streaming requests.",
    onDenial("key_revoked", streaming, insteadOf("invalid_api_key")),
  ),
  mutation(
    "auth.revoked-403",
    REVOKED,
    "A revoked key gets 403.",
    onDenial("key_revoked", () => true, status(403)),
  ),
  mutation(
    "auth.revoked-served-on-messages",
    [...REVOKED, "STREAM-2"],
    "The messages endpoint does not check for revoked keys.",
    overlook("key_revoked", onMessages),
  ),
  mutation(
    "auth.revoked-lists-models",
    REVOKED,
    "A revoked key can still list the models.",
    overlook("key_revoked", onModels),
  ),
  mutation(
    "auth.revoked-streams",
    [...REVOKED, "STREAM-2"],
    "A revoked key can still stream.",
    overlook("key_revoked", streaming),
  ),
  mutation(
    "auth.revoked-served-on-fresh-connections",
    REVOKED,
    "The first request on a connection is served even if its key is revoked.",
    overlook("key_revoked", fresh),
  ),
  mutation(
    "auth.revoked-served-now-and-then",
    REVOKED,
    "One of four instances serves a revoked key from its cache.",
    overlook(
      "key_revoked",
      every(4, (call) => call.key?.revoked === true),
    ),
  ),
  loadMutation(
    "auth.good-key-flaps",
    ["AUTH-1"],
    "Every fiftieth request with a valid key is rejected as invalid.",
    wrap("findKey", (next) => {
      const unlucky = every(50);
      return (secret, call) => (unlucky(call) ? undefined : next(secret, call));
    }),
  ),
  mutation(
    "auth.refusal-sticks-to-connection",
    ["AUTH-1"],
    "After an invalid key, the next request on the same connection is rejected whatever its key.",
    wrap("findKey", (next) => {
      const refused = remembered(() => new Set<number>());
      return (secret, call) => {
        const { id } = call.arrival.connection;
        if (refused(call).delete(id)) return undefined;
        const key = next(secret, call);
        if (key === undefined) refused(call).add(id);
        return key;
      };
    }),
  ),
  mutation(
    "auth.connection-stays-trusted",
    ["AUTH-2", "AUTH-3", "AUTH-4", "ERR-401-INVALID", "ERR-401-REVOKED", "MODELS-5", "STREAM-2"],
    "A connection that has sent a valid key needs no key afterwards.",
    wrap("check", (next) => {
      const trusted = remembered(() => new Set<number>());
      return (name, call) => {
        const refused = next(name, call);
        if (name !== "credentials") return refused;
        if (reused(call) && trusted(call).has(call.arrival.connection.id)) return undefined;
        if (refused === undefined) trusted(call).add(call.arrival.connection.id);
        return refused;
      };
    }),
  ),
];
