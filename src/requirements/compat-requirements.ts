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
    text: "Non-streaming replies and errors are labelled as JSON, streams `text/event-stream`.",
  },
  {
    id: "COMPAT-BOTH-KEYS",
    source: ANTHROPIC,
    text: "A valid bearer key is enough, even if the request also has the dialect's own key header with any value.",
  },
  { id: "COMPAT-REQUEST-ID", source: BOTH, text: "A request id, where one is sent, differs from request to request." },
  {
    id: "COMPAT-REPLY-ID",
    source: BOTH,
    text: "Replies have ids that differ from each other; the chunks of one stream share theirs.",
  },
  {
    id: "COMPAT-ERROR-BODY",
    source: BOTH,
    text: "Errors come as JSON in the envelope of their dialect, with a message.",
  },
  {
    id: "COMPAT-FRAMING",
    source: "WHATWG HTML, 9.2; SDK stream readers",
    text: "Streams are event streams whose data is JSON and whose last event is terminated.",
  },
  {
    id: "COMPAT-STREAM-ERROR",
    source: BOTH,
    text: "A failure in mid-stream shows as an error event of the dialect or an abnormal close, never as a completed reply.",
  },
  {
    id: "COMPAT-USAGE",
    source: BOTH,
    text: "Token counts have the dialect's names and are the same streaming and non-streaming.",
  },
  {
    id: "COMPAT-CHAT-REPLY",
    source: OPENAI,
    text: "A non-streaming reply has `id`, `object`, `created`, `model`, and choices with `index`, `finish_reason` and role `assistant`.",
  },
  {
    id: "COMPAT-REPLY-MODEL",
    source: BOTH,
    text: "A reply names the requested model, or a name that stands for it, and the same name in streaming and non-streaming mode.",
  },
  {
    id: "COMPAT-CHAT-TURNS",
    source: OPENAI,
    text: "Conversations may begin with a system turn, hold empty and null contents, and give content in parts.",
  },
  {
    id: "COMPAT-CHAT-CHUNKS",
    source: OPENAI,
    text: "Every chunk is a `chat.completion.chunk` whose choices have `index` and `delta`; the first says the role.",
  },
  {
    id: "COMPAT-CHAT-FINISH",
    source: OPENAI,
    text: "Exactly one chunk has a finish reason of the known set, and no output follows it.",
  },
  {
    id: "COMPAT-CHAT-DONE",
    source: OPENAI,
    text: "A stream closes with `data: [DONE]`, exactly once, and nothing follows.",
  },
  {
    id: "COMPAT-CHAT-USAGE",
    source: OPENAI,
    text: "With `stream_options.include_usage` a last chunk with empty `choices` carries `usage`.",
  },
  {
    id: "COMPAT-MODELS",
    source: OPENAI,
    text: "What the list says of itself and of its models, it says as clients read it: object `list`, objects `model`, `created` in seconds, an owner as text.",
  },
  {
    id: "COMPAT-MSG-REPLY",
    source: ANTHROPIC,
    text: "A whole message has `id`, `type`, `role`, `model`, typed blocks, a known `stop_reason`, and both token counts.",
  },
  {
    id: "COMPAT-MSG-EVENTS",
    source: ANTHROPIC,
    text: "Events are named like their type and come in order: message_start, blocks with start, deltas and stop, message_delta, message_stop.",
  },
  {
    id: "COMPAT-MSG-STREAM",
    source: ANTHROPIC,
    text: "`stream` true on /messages gives a stream, as the reply is produced.",
  },
  {
    id: "COMPAT-TOOLS",
    source: BOTH,
    text: "Tool calls have an id, a name and arguments that are a JSON object, whole and joined from fragments, and the finish reason says so.",
  },
  {
    id: "COMPAT-TOOL-RESULT",
    source: BOTH,
    text: "A conversation that answers a tool call with its result is accepted.",
  },
  {
    id: "COMPAT-IMAGES",
    source: BOTH,
    text: "A model that is said to take images takes them in the form of the dialect, small ones and photographs.",
  },
  {
    id: "COMPAT-STRUCTURED",
    source: BOTH,
    text: "A model that is said to have structured outputs replies with JSON of the schema that the request names, and nothing else.",
  },
] as const satisfies readonly CompatRequirement[];
