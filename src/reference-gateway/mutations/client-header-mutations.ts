import { type Mutation, mutation } from "../change.ts";
import { edits, html, insteadOf, status } from "../edits/replies/response-edits.ts";
import { streamForced, streamIgnored } from "../edits/stream-or-not.ts";
import { both, inference, onMessages, streaming, type When } from "../edits/when.ts";
import { onServed, wrap } from "../edits/wrap.ts";

const agent: When = ({ arrival }) =>
  /^(?:OpenAI|Anthropic)\/|python-|^node/.test(String(arrival.headers["user-agent"] ?? ""));
const accepts =
  (type: RegExp): When =>
  ({ arrival }) =>
    type.test(String(arrival.headers.accept ?? ""));
const acceptsJsonOnly = accepts(/^application\/json$/);
const jsonOnlyOnStream = both(inference, streaming, acceptsJsonOnly);

/** Effects of headers that SDKs send with valid requests. */
export const CLIENT_HEADER_MUTATIONS: readonly Mutation[] = [
  mutation(
    "base.sdk-agents-blocked",
    ["CHAT-1", "MSG-1", "MODELS-1", "AUTH-1", "BASE-3", "STEADY-SERVICE"],
    "A firewall mistakes the User-Agent of SDKs for a bot's and returns a 403 HTML page.",
    onServed(agent, edits(status(403), html("Attention required"))),
  ),
  mutation(
    "base.sdk-list-to-agents-500",
    ["MODELS-1", "AUTH-1", "STEADY-SERVICE"],
    "Clients that report their runtime get 500 from the model list.",
    onServed(
      (call) => call.endpoint === "models" && call.arrival.headers["x-stainless-runtime"] !== undefined,
      insteadOf("internal_error"),
    ),
  ),
  mutation(
    "stream.accept-json-406",
    ["BASE-3", "STREAM-1", "COMPAT-MSG-STREAM", "STEADY-SERVICE"],
    "A streaming request that accepts application/json gets 406.",
    onServed(jsonOnlyOnStream, (response, call) => ({ ...insteadOf("invalid_request")(response, call), status: 406 })),
  ),
  mutation(
    "stream.ignored-for-accept-json",
    ["BASE-3", "STREAM-1", "COMPAT-MSG-STREAM"],
    "A streaming request that accepts application/json gets one JSON document.",
    streamIgnored(jsonOnlyOnStream),
  ),
  mutation(
    "stream.forced-by-accept",
    ["CHAT-7", "CHAT-1", "CHAT-2", "CHAT-3", "ERR-200-1"],
    "A client that accepts event streams gets one without requesting it.",
    streamForced(accepts(/text\/event-stream/)),
  ),
  mutation(
    "auth.vendor-key-wins",
    ["COMPAT-BOTH-KEYS"],
    "On the messages endpoint the vendor's key header overrides the bearer key.",
    wrap("presentedKey", (next) => (call) => {
      const vendor = call.arrival.headers["x-api-key"];
      return onMessages(call) && typeof vendor === "string" ? vendor : next(call);
    }),
  ),
  mutation(
    "auth.revoked-vendor-key-wins",
    ["COMPAT-BOTH-KEYS"],
    "A vendor's key that was ever issued overrides the bearer key.",
    wrap("presentedKey", (next) => (call) => {
      const vendor = call.arrival.headers["x-api-key"];
      const isKnown = typeof vendor === "string" && call.behaviour.findKey(vendor, call) !== undefined;
      return isKnown ? vendor : next(call);
    }),
  ),
];
