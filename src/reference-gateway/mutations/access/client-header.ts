import { type Mutation, mutation } from "../../change.ts";
import { edits, html, insteadOf, status } from "../../edits/replies/response-edits.ts";
import { streamForced, streamIgnored } from "../../edits/stream-or-not.ts";
import { both, inference, onMessages, streaming, type When } from "../../edits/when.ts";
import { onServed, wrap } from "../../edits/wrap.ts";

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
  mutation("base.sdk-agents-blocked", {
    breaks: ["CHAT-1", "MSG-1", "MODELS-1", "AUTH-1", "BASE-3", "STEADY-SERVICE"],
    summary: "A firewall mistakes the User-Agent of SDKs for a bot's and returns a 403 HTML page.",
    apply: onServed(agent, edits(status(403), html("Attention required"))),
    detectedBy: { "chat.as-sdks-send[non-streaming,openai-python]": "CHAT-1" },
    shownBy: "checks",
  }),
  mutation("base.sdk-list-to-agents-500", {
    breaks: ["MODELS-1", "AUTH-1", "STEADY-SERVICE"],
    summary: "Clients that report their runtime get 500 from the model list.",
    apply: onServed(
      (call) => call.endpoint === "models" && call.arrival.headers["x-stainless-runtime"] !== undefined,
      insteadOf("internal_error"),
    ),
    detectedBy: { "models.as-sdks-send[anthropic-node]": "MODELS-1" },
    shownBy: "checks",
  }),
  mutation("stream.accept-json-406", {
    breaks: ["BASE-3", "STREAM-1", "COMPAT-MSG-STREAM", "STEADY-SERVICE"],
    summary: "A streaming request that accepts application/json gets 406.",
    apply: onServed(jsonOnlyOnStream, (response, call) => ({
      ...insteadOf("invalid_request")(response, call),
      status: 406,
    })),
    detectedBy: { "messages.as-sdks-send[streaming,anthropic-python]": "COMPAT-MSG-STREAM" },
    shownBy: "checks",
  }),
  mutation("stream.ignored-for-accept-json", {
    breaks: ["BASE-3", "STREAM-1", "COMPAT-MSG-STREAM"],
    summary: "A streaming request that accepts application/json gets one JSON document.",
    apply: streamIgnored(jsonOnlyOnStream),
    detectedBy: { "chat.as-sdks-send[streaming,openai-node]": "BASE-3" },
    shownBy: "checks",
  }),
  mutation("stream.forced-by-accept", {
    breaks: ["CHAT-7", "CHAT-1", "CHAT-2", "CHAT-3", "ERR-200-1"],
    summary: "A client that accepts event streams gets one without requesting it.",
    apply: streamForced(accepts(/text\/event-stream/)),
    detectedBy: { "chat.non-streaming[accepts-streams]": "CHAT-7" },
    shownBy: "checks",
  }),
  mutation("auth.vendor-key-wins", {
    breaks: ["COMPAT-BOTH-KEYS"],
    summary: "On the messages endpoint the vendor's key header overrides the bearer key.",
    apply: wrap("presentedKey", (next) => (call) => {
      const vendor = call.arrival.headers["x-api-key"];
      return onMessages(call) && typeof vendor === "string" ? vendor : next(call);
    }),
    detectedBy: { "auth.both-keys[non-streaming,unknown-key]": "COMPAT-BOTH-KEYS" },
    shownBy: "checks",
  }),
  mutation("auth.revoked-vendor-key-wins", {
    breaks: ["COMPAT-BOTH-KEYS"],
    summary: "A vendor's key that was ever issued overrides the bearer key.",
    apply: wrap("presentedKey", (next) => (call) => {
      const vendor = call.arrival.headers["x-api-key"];
      const isKnown = typeof vendor === "string" && call.behaviour.findKey(vendor, call) !== undefined;
      return isKnown ? vendor : next(call);
    }),
    detectedBy: { "auth.both-keys[streaming,revoked-key]": "COMPAT-BOTH-KEYS" },
    shownBy: "checks",
  }),
];
