import { type Mutation, mutation } from "../change.ts";
import { authorization, malformedKey, unknownKey } from "../edits/credential-kinds.ts";
import { insteadOf, status } from "../edits/replies/response-edits.ts";
import { both, inChunks, onMessages, secondKey, streaming } from "../edits/when.ts";
import { onDenial, onRefusal, overlook, wrap } from "../edits/wrap.ts";
import { refusal } from "../pipeline/refusal.ts";

/** How a key has to be written, and the treatment of keys that are not. */
export const CREDENTIAL_MUTATIONS: readonly Mutation[] = [
  mutation(
    "auth.malformed-500",
    ["AUTH-5"],
    "An Authorization header without a bearer key gets 500.",
    onDenial("invalid_api_key", malformedKey, insteadOf("internal_error")),
  ),
  mutation(
    "auth.malformed-400",
    ["AUTH-5"],
    "An Authorization header without a bearer key gets 400.",
    onDenial("invalid_api_key", malformedKey, insteadOf("invalid_request")),
  ),
  mutation(
    "auth.short-key-400",
    ["AUTH-5"],
    "A bearer key shorter than any issued key gets 400.",
    onDenial(
      "invalid_api_key",
      (call) => (call.behaviour.presentedKey(call)?.length ?? 99) < 20,
      insteadOf("invalid_request"),
    ),
  ),
  mutation(
    "auth.empty-bearer-served",
    ["AUTH-5"],
    "A request with an empty bearer key is served.",
    overlook("invalid_api_key", (call) => /^bearer *$/i.test(authorization(call))),
  ),
  mutation(
    "auth.unknown-200-after-expect",
    ["AUTH-3", "ERR-401-INVALID"],
    "A request with an unknown key that expects 100-continue gets 200.",
    onDenial(
      "invalid_api_key",
      both(unknownKey, (call) => call.arrival.headers["expect"] !== undefined),
      status(200),
    ),
  ),
  mutation(
    "auth.unknown-in-chunks-500",
    ["AUTH-3", "ERR-401-INVALID"],
    "An unknown key with a chunked request gets 500.",
    onDenial("invalid_api_key", both(unknownKey, inChunks), insteadOf("internal_error")),
  ),
  mutation(
    "auth.any-scheme",
    ["AUTH-5"],
    "The scheme is not checked: Basic or Token with a key is served.",
    wrap("presentedKey", (next) => (call) => next(call) ?? /^\w+ +(\S+)$/.exec(authorization(call))?.[1]),
  ),
  mutation(
    "auth.no-scheme",
    ["AUTH-5"],
    "A key without a scheme is served.",
    wrap("presentedKey", (next) => (call) => next(call) ?? /^(\S+)$/.exec(authorization(call))?.[1]),
  ),
  mutation(
    "auth.non-ascii-500",
    ["AUTH-5"],
    "A bearer key with non-ASCII bytes gets 500.",
    onDenial("invalid_api_key", (call) => /[\x80-\xff]/.test(authorization(call)), insteadOf("internal_error")),
  ),
  mutation(
    "auth.long-key-500",
    ["AUTH-5"],
    "A bearer key of more than a thousand characters gets 500.",
    onDenial("invalid_api_key", (call) => authorization(call).length > 1_000, insteadOf("internal_error")),
  ),
  mutation(
    "auth.refusal-repeats-key",
    ["SEC-3"],
    "The error for an unknown key repeats the key.",
    onRefusal("invalid_api_key", unknownKey, (refused, call) => ({
      ...refused,
      message: `Incorrect API key provided: ${call.behaviour.presentedKey(call) ?? ""}.`,
    })),
  ),
  mutation(
    "auth.second-key-unknown",
    ["AUTH-1"],
    "Only the first key of an account is accepted.",
    wrap("findKey", (next) => (secret, call) => {
      const key = next(secret, call);
      return key?.ordinal === 1 ? undefined : key;
    }),
  ),
  mutation(
    "auth.second-key-cannot-stream",
    ["AUTH-1"],
    "Streams of an account's second key are rejected as invalid.",
    wrap("check", (next) => (name, call) => {
      const refused = next(name, call);
      return name === "credentials" && streaming(call) && secondKey(call) ? refusal("invalid_api_key") : refused;
    }),
  ),
  mutation(
    "auth.messages-wants-vendor-key",
    ["AUTH-1", "BASE-2", "MSG-1", "VER-2", "MSG-10"],
    "The messages endpoint accepts a key only in the vendor's header.",
    wrap("presentedKey", (next) => (call) => {
      const vendor = call.arrival.headers["x-api-key"];
      if (!onMessages(call)) return next(call);
      return typeof vendor === "string" ? vendor : undefined;
    }),
  ),
];
