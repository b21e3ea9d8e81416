interface CompatRequirement {
  readonly id: string;
  /** Who needs it. */
  readonly source: string;
  readonly text: string;
}

const OPENAI = "OpenAI SDKs and agents built on them";
const ANTHROPIC = "Anthropic SDKs and agents built on them";
const BOTH = "OpenAI and Anthropic SDKs";

/** What real clients need beyond the specification and the standards. */
export const COMPAT_REQUIREMENTS = [
  {
    id: "COMPAT-CONTENT-TYPE",
    source: BOTH,
    text: "Non-streaming replies and errors have a JSON content type, streams have `text/event-stream`.",
  },
  {
    id: "COMPAT-BOTH-KEYS",
    source: ANTHROPIC,
    text: "A valid bearer key is enough, even if the request also carries the dialect's own key header with any value.",
  },
  { id: "COMPAT-REQUEST-ID", source: BOTH, text: "A request id, if present, is different for every request." },
  {
    id: "COMPAT-REPLY-ID",
    source: BOTH,
    text: "Every reply has a different id; the chunks of one stream share the same id.",
  },
  {
    id: "COMPAT-ERROR-BODY",
    source: BOTH,
    text: "Errors are JSON in the envelope of their dialect, with a message.",
  },
  {
    id: "COMPAT-FRAMING",
    source: "WHATWG HTML, 9.2; SDK stream readers",
    text: "Streams are event streams with JSON data, and the last event is terminated.",
  },
  {
    id: "COMPAT-STREAM-ERROR",
    source: BOTH,
    text: "A mid-stream failure shows as an error event of the dialect or an abnormal close, never as a completed reply.",
  },
  {
    id: "COMPAT-USAGE",
    source: BOTH,
    text: "Token counts use the dialect's field names and are the same streaming and non-streaming.",
  },
  {
    id: "COMPAT-CHAT-REPLY",
    source: OPENAI,
    text: "A non-streaming reply has `id`, `object`, `created`, `model`, and choices with `index`, `finish_reason` and role `assistant`.",
  },
  {
    id: "COMPAT-REPLY-MODEL",
    source: BOTH,
    text: "A reply names the requested model, or an equivalent name, and uses the same name in streaming and non-streaming mode.",
  },
  {
    id: "COMPAT-CHAT-TURNS",
    source: OPENAI,
    text: "Conversations may begin with a system turn, contain empty or null content, and give content in parts.",
  },
  {
    id: "COMPAT-CHAT-CHUNKS",
    source: OPENAI,
    text: "Every chunk is a `chat.completion.chunk` whose choices have `index` and `delta`; the first states the role.",
  },
  {
    id: "COMPAT-CHAT-FINISH",
    source: OPENAI,
    text: "Exactly one chunk has a known finish reason, and no output follows it.",
  },
  {
    id: "COMPAT-CHAT-DONE",
    source: OPENAI,
    text: "A stream ends with `data: [DONE]`, sent exactly once, with nothing after it.",
  },
  {
    id: "COMPAT-CHAT-USAGE",
    source: OPENAI,
    text: "With `stream_options.include_usage`, a final chunk with empty `choices` carries `usage`.",
  },
  {
    id: "COMPAT-MODELS",
    source: OPENAI,
    text: "Where the list and its entries describe themselves, they do so as clients expect: object `list`, entry objects `model`, `created` in seconds, owner as text.",
  },
  {
    id: "COMPAT-MSG-REPLY",
    source: ANTHROPIC,
    text: "A non-streaming message has `id`, `type`, `role`, `model`, typed blocks, a known `stop_reason`, and both token counts.",
  },
  {
    id: "COMPAT-MSG-EVENTS",
    source: ANTHROPIC,
    text: "Events are named after their type and arrive in order: message_start, blocks with start, deltas and stop, message_delta, message_stop.",
  },
  {
    id: "COMPAT-MSG-STREAM",
    source: ANTHROPIC,
    text: "`stream: true` on /messages returns a stream, sent as the reply is produced.",
  },
  {
    id: "COMPAT-TOOLS",
    source: BOTH,
    text: "Tool calls have an id, a name and arguments that form a JSON object, both non-streaming and joined from fragments, and the finish reason says so.",
  },
  {
    id: "COMPAT-TOOL-RESULT",
    source: BOTH,
    text: "A conversation that continues with the result of a tool call is accepted.",
  },
  {
    id: "COMPAT-IMAGES",
    source: BOTH,
    text: "A model declared to support images accepts them in the dialect's format, both small ones and photographs.",
  },
  {
    id: "COMPAT-STRUCTURED",
    source: BOTH,
    text: "A model declared to support structured outputs replies with JSON that matches the requested schema, and nothing else.",
  },
] as const satisfies readonly CompatRequirement[];
