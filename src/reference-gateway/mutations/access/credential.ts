import { grid, type Mutation, mutation } from "../../change.ts";
import { authorization, malformedKey, unknownKey } from "../../edits/credential-kinds.ts";
import { insteadOf, status } from "../../edits/replies/response-edits.ts";
import { both, inChunks, onMessages, secondKey, streaming, type When } from "../../edits/when.ts";
import { admitDespite, onDenial, onRefusal, wrap } from "../../edits/wrap.ts";
import { refusal } from "../../pipeline/refusal.ts";

/** How a key has to be written, and the treatment of keys that are not. */
export const CREDENTIAL_MUTATIONS: readonly Mutation[] = [
  ...grid(["AUTH-5"], (when: When) => onDenial("invalid_api_key", when, insteadOf("internal_error")), {
    "auth.malformed-500": { summary: "An Authorization header without a bearer key gets 500.", with: malformedKey },
    "auth.unknown-in-chunks-500": {
      breaks: ["AUTH-3", "ERR-401-INVALID"],
      summary: "An unknown key with a chunked request gets 500.",
      with: both(unknownKey, inChunks),
      shownBy: "checks",
    },
    "auth.non-ascii-500": {
      summary: "A bearer key with non-ASCII bytes gets 500.",
      with: (call) => /[\x80-\xff]/.test(authorization(call)),
    },
    "auth.long-key-500": {
      summary: "A bearer key of more than a thousand characters gets 500.",
      with: (call) => authorization(call).length > 1_000,
    },
  }),
  ...grid(["AUTH-5"], (when: When) => onDenial("invalid_api_key", when, insteadOf("invalid_request")), {
    "auth.malformed-400": { summary: "An Authorization header without a bearer key gets 400.", with: malformedKey },
    "auth.short-key-400": {
      summary: "A bearer key shorter than any issued key gets 400.",
      breaks: ["AUTH-3", "AUTH-5"],
      with: (call) => (call.behaviour.presentedKey(call)?.length ?? 99) < 20,
      mayBreak: ["ERR-401-INVALID"],
    },
  }),
  mutation("auth.empty-bearer-served", {
    breaks: ["AUTH-5"],
    summary: "A request with an empty bearer key is served.",
    apply: admitDespite("invalid_api_key", (call) => /^bearer *$/i.test(authorization(call))),
  }),
  mutation("auth.unknown-200-after-expect", {
    breaks: ["AUTH-3", "ERR-401-INVALID"],
    summary: "A request with an unknown key that expects 100-continue gets 200.",
    apply: onDenial(
      "invalid_api_key",
      both(unknownKey, (call) => call.arrival.headers["expect"] !== undefined),
      status(200),
    ),
    shownBy: "checks",
  }),
  mutation("auth.any-scheme", {
    breaks: ["AUTH-5"],
    summary: "The scheme is not checked: Basic or Token with a key is served.",
    apply: wrap("presentedKey", (next) => (call) => next(call) ?? /^\w+ +(\S+)$/.exec(authorization(call))?.[1]),
  }),
  mutation("auth.no-scheme", {
    breaks: ["AUTH-5"],
    summary: "A key without a scheme is served.",
    apply: wrap("presentedKey", (next) => (call) => next(call) ?? /^(\S+)$/.exec(authorization(call))?.[1]),
  }),
  mutation("auth.refusal-repeats-key", {
    breaks: ["SEC-3"],
    summary: "The error for an unknown key repeats the key.",
    apply: onRefusal("invalid_api_key", unknownKey, (refused, call) => ({
      ...refused,
      message: `Incorrect API key provided: ${call.behaviour.presentedKey(call) ?? ""}.`,
    })),
  }),
  mutation("auth.second-key-unknown", {
    breaks: ["AUTH-1"],
    summary: "Only the first key of an account is accepted.",
    apply: wrap("findKey", (next) => (secret, call) => {
      const key = next(secret, call);
      return key?.ordinal === 1 ? undefined : key;
    }),
  }),
  mutation("auth.second-key-cannot-stream", {
    breaks: ["AUTH-1"],
    summary: "Streams of an account's second key are rejected as invalid.",
    apply: wrap("check", (next) => (name, call) => {
      const refused = next(name, call);
      return name === "credentials" && streaming(call) && secondKey(call) ? refusal("invalid_api_key") : refused;
    }),
  }),
  mutation("auth.messages-wants-vendor-key", {
    breaks: ["AUTH-1", "BASE-2", "MSG-1", "VER-2", "MSG-10"],
    summary: "The messages endpoint accepts a key only in the vendor's header.",
    apply: wrap("presentedKey", (next) => (call) => {
      const vendor = call.arrival.headers["x-api-key"];
      if (!onMessages(call)) return next(call);
      return typeof vendor === "string" ? vendor : undefined;
    }),
  }),
];
