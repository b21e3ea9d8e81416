import { grid, loadMutation, type Mutation, mutation } from "../../change.ts";
import { missingKey, unknownKey } from "../../edits/credential-kinds.ts";
import { insteadOf, status, text } from "../../edits/replies/response-edits.ts";
import {
  both,
  every,
  fresh,
  onMessages,
  onModels,
  remembered,
  reused,
  streaming,
  type When,
} from "../../edits/when.ts";
import { admitDespite, onDenial, type ResponseEdit, wrap } from "../../edits/wrap.ts";

const UNKNOWN = ["AUTH-3", "ERR-401-INVALID"];
const MISSING = ["AUTH-2", "ERR-401-INVALID"];
const REVOKED = ["AUTH-4", "ERR-401-REVOKED"];

/** Which keys are accepted, and the responses to the others. */
export const AUTH_MUTATIONS: readonly Mutation[] = [
  ...grid([...MISSING, "MODELS-5"], (when: When) => admitDespite("invalid_api_key", when), {
    "auth.list-without-key": {
      summary: "The model list needs no key.",
      with: both(onModels, missingKey),
      detectedBy: { "auth.missing-key[models]": "AUTH-2" },
    },
    "auth.list-to-browsers-without-key": {
      summary: "A client that accepts HTML gets the model list without a key.",
      with: both(onModels, missingKey, ({ arrival }) => String(arrival.headers["accept"]).includes("text/html")),
      shownBy: "checks",
    },
    "auth.list-with-any-key": {
      breaks: UNKNOWN,
      summary: "The model list accepts any bearer key, issued or not.",
      with: both(onModels, unknownKey),
      detectedBy: { "auth.unknown-key[models]": "AUTH-3" },
    },
    "auth.stream-without-key": {
      breaks: [...MISSING, "STREAM-2"],
      summary: "Streams are served without a key.",
      with: both(streaming, missingKey),
      detectedBy: { "auth.missing-key[chat]": "AUTH-2" },
    },
    "auth.messages-with-any-key": {
      breaks: [...UNKNOWN, "STREAM-2"],
      summary: "The messages endpoint accepts unknown keys.",
      with: both(onMessages, unknownKey),
      detectedBy: { "auth.unknown-key[messages]": "AUTH-3" },
    },
  }),
  ...grid([...UNKNOWN, "ERR-HDR-1"], (edit: ResponseEdit) => onDenial("invalid_api_key", unknownKey, edit), {
    "auth.unknown-key-500": {
      summary: "A key that was never issued gets 500.",
      with: insteadOf("internal_error"),
      detectedBy: { "auth.unknown-key[models]": "AUTH-3" },
    },
    "auth.unknown-key-403": { breaks: UNKNOWN, summary: "A key that was never issued gets 403.", with: status(403) },
    "auth.unknown-key-200": {
      breaks: [...UNKNOWN, "ERR-200-1"],
      summary: "A key that was never issued gets 200 with the error in the body.",
      with: status(200),
      mayBreak: ["MODELS-1", "REASON-ON-SUCCESS"],
    },
  }),
  mutation("auth.unknown-key-400-on-messages", {
    breaks: UNKNOWN,
    summary: "A key that was never issued gets 400 on the messages endpoint.",
    apply: onDenial("invalid_api_key", both(unknownKey, onMessages), status(400)),
  }),
  ...grid([...MISSING, "MODELS-5"], (edit: ResponseEdit) => onDenial("invalid_api_key", missingKey, edit), {
    "auth.missing-key-403": { summary: "A request without a key gets 403.", with: status(403) },
    "auth.missing-key-has-own-reason": {
      breaks: [...MISSING, "MODELS-5", "ERR-HDR-1"],
      summary: "A request without a key is denied with a custom reason, missing_api_key.",
      with: (response) => ({
        ...response,
        headers: response.headers.map(([name, value]) => [
          name,
          value === "invalid_api_key" ? "missing_api_key" : value,
        ]),
      }),
    },
    "auth.missing-key-302": {
      summary: "A request without a key is redirected to a login page.",
      with: (response) => ({
        ...response,
        status: 302,
        headers: [...response.headers, ["Location", "/login"]],
      }),
    },
  }),
  mutation("auth.missing-key-unknown-model-first", {
    breaks: [...MISSING, "ERR-HDR-1"],
    summary: "A chat request without a key gets model_not_found.",
    apply: onDenial(
      "invalid_api_key",
      both(missingKey, (call) => call.endpoint === "chat"),
      insteadOf("model_not_found"),
    ),
  }),
  mutation("auth.list-401-plain", {
    breaks: [...MISSING, "AUTH-3", "MODELS-5", "ERR-HDR-1", "ERR-BODY-2"],
    summary: "An invalid key on the model list gets a bare 401: no reason, no error envelope.",
    apply: onDenial("invalid_api_key", onModels, (response, call) => ({
      ...text("Unauthorized", "text/plain")(response, call),
      headers: [["WWW-Authenticate", "Bearer"]],
    })),
    mayBreak: ["ERR-HDR-3"],
  }),
  ...grid([...REVOKED, "ERR-HDR-1"], (when: When) => onDenial("key_revoked", when, insteadOf("invalid_api_key")), {
    "auth.revoked-as-invalid": { summary: "A revoked key is reported as unknown.", with: () => true },
    "auth.revoked-as-invalid-on-stream": {
      breaks: [...REVOKED, "ERR-HDR-1", "STREAM-2"],
      summary: "A revoked key is reported as unknown on streaming requests.",
      with: streaming,
    },
  }),
  mutation("auth.revoked-403", {
    breaks: REVOKED,
    summary: "A revoked key gets 403.",
    apply: onDenial("key_revoked", () => true, status(403)),
  }),
  ...grid(REVOKED, (when: When) => admitDespite("key_revoked", when), {
    "auth.revoked-served-on-messages": {
      breaks: [...REVOKED, "STREAM-2"],
      summary: "The messages endpoint does not check for revoked keys.",
      with: onMessages,
    },
    "auth.revoked-lists-models": { summary: "A revoked key can still list the models.", with: onModels },
    "auth.revoked-streams": {
      breaks: [...REVOKED, "STREAM-2"],
      summary: "A revoked key can still stream.",
      with: streaming,
    },
    "auth.revoked-served-on-fresh-connections": {
      summary: "The first request on a connection is served even if its key is revoked.",
      with: fresh,
    },
    "auth.revoked-served-now-and-then": {
      summary: "One of four instances serves a revoked key from its cache.",
      with: every(4, (call) => call.key?.revoked === true),
    },
  }),
  loadMutation("auth.good-key-flaps", {
    breaks: ["AUTH-1"],
    summary: "Every fiftieth request with a valid key is rejected as invalid.",
    apply: wrap("findKey", (next) => {
      const unlucky = every(50);
      return (secret, call) => (unlucky(call) ? undefined : next(secret, call));
    }),
  }),
  mutation("auth.refusal-sticks-to-connection", {
    breaks: ["AUTH-1"],
    summary: "After an invalid key, the next request on the same connection is rejected whatever its key.",
    apply: wrap("findKey", (next) => {
      const refused = remembered(() => new Set<number>());
      return (secret, call) => {
        const { id } = call.arrival.connection;
        if (refused(call).delete(id)) return undefined;
        const key = next(secret, call);
        if (key === undefined) refused(call).add(id);
        return key;
      };
    }),
  }),
  mutation("auth.connection-stays-trusted", {
    breaks: ["AUTH-2", "AUTH-3", "AUTH-4", "ERR-401-INVALID", "ERR-401-REVOKED", "MODELS-5", "STREAM-2"],
    summary: "A connection that has sent a valid key needs no key afterwards.",
    apply: wrap("check", (next) => {
      const trusted = remembered(() => new Set<number>());
      return (name, call) => {
        const refused = next(name, call);
        if (name !== "credentials") return refused;
        if (reused(call) && trusted(call).has(call.arrival.connection.id)) return undefined;
        if (refused === undefined) trusted(call).add(call.arrival.connection.id);
        return refused;
      };
    }),
    mayBreak: ["BEARER-PLACE"],
  }),
];
