import { isObject, type JsonObject, member } from "../../../core/index.ts";
import { grid, type Mutation, mutation } from "../../change.ts";
import {
  mapTexts,
  onRelayedEvents,
  onRelayedReply,
  onRelayedStream,
  onRelayedText,
} from "../../edits/provider-edits.ts";
import { all } from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import type { RelayedPiece } from "../../pipeline/response.ts";
import { sendToProvider } from "../../relay/relay.ts";
import { relayedStream } from "../../relay/relayed-stream.ts";

const REPLY = ["UPSTREAM-REPLY"];
const USAGE = ["UPSTREAM-USAGE"];

/** The end of a complete stream, by dialect. */
const ENDS = {
  chat: "data: [DONE]\n\n",
  messages: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
};

/** Changes a reply's token counts, streaming and non-streaming. */
const onUsage = (edit: (usage: JsonObject) => JsonObject) =>
  all(
    onRelayedReply((value) => withUsage(value, edit)),
    onRelayedText((text) =>
      text.replace(/^data: (\{.*"usage":.*\})$/gm, (line, data: string) => {
        try {
          return `data: ${JSON.stringify(withUsage(JSON.parse(data) as JsonObject, edit))}`;
        } catch {
          return line;
        }
      }),
    ),
  );

function withUsage(value: JsonObject, edit: (usage: JsonObject) => JsonObject): JsonObject {
  const { usage, message } = value;
  return {
    ...value,
    ...(isObject(usage) ? { usage: edit(usage as JsonObject) } : {}),
    ...(isObject(message) && isObject(message["usage"]) ? { message: withUsage(message as JsonObject, edit) } : {}),
  };
}

const LONG_EVENT = ["UPSTREAM-REPLY", "UPSTREAM-LONG-EVENT"];
const LONG_BYTES = 65_536;
/** An event with text, reasoning or a part of a tool call. */
const HAS_PIECE = /"(?:content|text|partial_json|arguments|reasoning_content|thinking)":"[^"]/;

const CACHED = ["prompt_tokens_details", "cache_read_input_tokens", "cache_creation_input_tokens"];
const COUNTS = ["prompt_tokens", "input_tokens", "completion_tokens", "output_tokens"];

/** Everything at once, when the provider has finished. */
async function* gathered(pieces: AsyncIterable<RelayedPiece>): AsyncGenerator<RelayedPiece> {
  const kept: RelayedPiece[] = [];
  for await (const piece of pieces) kept.push(piece);
  yield* kept;
}

/** Reads pieces as fast as they arrive, and buffers them until they are requested. */
async function* readAhead(pieces: AsyncIterable<RelayedPiece>): AsyncGenerator<RelayedPiece> {
  const kept: RelayedPiece[] = [];
  let isOver = false;
  let wake = () => {};
  const reading = (async () => {
    for await (const piece of pieces) {
      kept.push(piece);
      wake();
    }
    isOver = true;
    wake();
  })();
  for (;;) {
    const piece = kept.shift();
    if (piece !== undefined) yield piece;
    else if (isOver) break;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
  await reading;
}

async function* endingWell(pieces: AsyncIterable<RelayedPiece>, call: Call): AsyncGenerator<RelayedPiece> {
  for await (const piece of pieces)
    yield piece.isBroken ? { bytes: Buffer.from(ENDS[call.dialect]), tokens: 0, isBroken: false } : piece;
}

/** Requests an interrupted stream again and appends the result. */
async function* askingAgain(pieces: AsyncIterable<RelayedPiece>, call: Call): AsyncGenerator<RelayedPiece> {
  for await (const piece of pieces) {
    if (!piece.isBroken) {
      yield piece;
      continue;
    }
    const { upstream } = call.services;
    const [provider] = upstream?.providers ?? [];
    const again =
      upstream === undefined || provider === undefined ? undefined : await sendToProvider(call, provider, upstream);
    if (again === undefined || "failure" in again) yield piece;
    else yield* relayedStream(again.body, call);
  }
}

/** How a provider's reply is relayed to callers. */
export const PROVIDER_REPLY_MUTATIONS: readonly Mutation[] = [
  ...grid(REPLY, onRelayedReply, {
    "provider.reply-trimmed": {
      summary: "Non-streaming replies lose the spaces at the ends of lines.",
      with: (value) => mapTexts(value, (text) => text.replace(/[ \t]+(?=\n|\.|$)/g, " ").trim()),
    },
    "provider.tool-arguments-flattened": {
      summary: "Objects inside the arguments of a tool call become strings.",
      with: (value) => flattened(value),
      detectedBy: { "upstream.reply[chat,non-streaming,tool]": "UPSTREAM-REPLY" },
    },
  }),
  mutation("provider.reply-characters-lost", {
    breaks: REPLY,
    summary: "Four-byte characters become question marks.",
    apply: all(
      onRelayedReply((value) => mapTexts(value, (text) => text.replace(/[\u{10000}-\u{10ffff}]/gu, "?"))),
      onRelayedText((text) => text.replace(/[\u{10000}-\u{10ffff}]/gu, "?")),
    ),
    detectedBy: { "upstream.reply[messages,streaming,text]": "UPSTREAM-REPLY" },
  }),
  ...grid(REPLY, onRelayedText, {
    "provider.stream-event-lost": {
      summary: "The third text event of a stream is lost.",
      with: (text) => {
        let texts = 0;
        return text.replace(/(?:event: [^\n]*\n)?data: [^\n]*\n\n/g, (event) =>
          /"(?:content|text|partial_json|arguments)":"[^"]/.test(event) && ++texts === 3 ? "" : event,
        );
      },
    },
    "provider.stream-usage-lost": {
      breaks: [...USAGE, "COMPAT-CHAT-USAGE"],
      summary: "Chat streams have no usage.",
      with: (text) => text.replace(/data: \{[^\n]*"choices":\[\][^\n]*\n\n/g, ""),
    },
  }),
  ...grid(LONG_EVENT, onRelayedEvents, {
    "provider.long-event-ends-stream": {
      summary: "A stream ends silently at an event longer than 64 KiB.",
      with: (event) => (event.length > LONG_BYTES ? undefined : event),
      detectedBy: { "upstream.long-events[chat,text]": "UPSTREAM-REPLY" },
    },
    "provider.long-event-ends-stream-well": {
      summary: "An event of more than 1 MiB is dropped from a stream, which then ends normally.",
      with: (event) => (event.length > 1_048_576 && HAS_PIECE.test(event) ? "" : event),
      detectedBy: { "upstream.long-events[messages,reasoning]": "UPSTREAM-REPLY" },
    },
    "provider.long-arguments-cut": {
      summary: "Fragments of tool arguments are truncated to 16 KiB.",
      with: (event) =>
        event.replace(/("(?:arguments|partial_json)":")((?:[^"\\]|\\.)*)/, (_all, name: string, text: string) =>
          [name, text.slice(0, 16_384).replace(/\\$/, "")].join(""),
        ),
      detectedBy: { "upstream.long-events[chat,tool-arguments]": "UPSTREAM-REPLY" },
    },
    "provider.long-reasoning-ends-stream": {
      summary: "A stream ends silently at a reasoning event longer than 64 KiB.",
      with: (event) =>
        event.length > LONG_BYTES && /"(?:reasoning_content|thinking)":"/.test(event) ? undefined : event,
      detectedBy: { "upstream.long-events[chat,reasoning]": "UPSTREAM-LONG-EVENT" },
    },
  }),
  ...grid(USAGE, onUsage, {
    "provider.usage-estimated": {
      breaks: [...USAGE, "COUNTS-ADD-UP"],
      summary: "Token counts are the gateway's estimate.",
      with: (usage) =>
        Object.fromEntries(
          Object.entries(usage).map(([name, count]) => [name, COUNTS.includes(name) && count !== 0 ? 25 : count]),
        ),
      mayBreak: ["COUNTS-ADD-UP"],
    },
    "provider.cached-tokens-lost": {
      summary: "Tokens read from the provider's cache are not reported.",
      with: (usage) => Object.fromEntries(Object.entries(usage).filter(([name]) => !CACHED.includes(name))),
      detectedBy: { "upstream.usage[messages,streaming]": "UPSTREAM-USAGE" },
    },
    "provider.cached-tokens-added": {
      summary: "In the messages dialect, cached tokens are also counted as input.",
      with: (usage) =>
        typeof usage["input_tokens"] === "number"
          ? { ...usage, input_tokens: usage["input_tokens"] + Number(usage["cache_read_input_tokens"] ?? 0) }
          : usage,
    },
  }),
  ...grid(["UPSTREAM-STREAMED"], onRelayedStream, {
    "provider.stream-gathered": {
      summary: "A stream reaches the caller only when the provider has finished.",
      with: gathered,
      mayBreak: ["UPSTREAM-BACKPRESSURE"],
      detectedBy: { "upstream.streamed[chat]": "UPSTREAM-STREAMED" },
    },
    "provider.reads-ahead": {
      breaks: ["UPSTREAM-BACKPRESSURE"],
      summary: "A stream is read from the provider at full speed, even if the caller does not read.",
      with: readAhead,
      detectedBy: { "upstream.backpressure[messages]": "UPSTREAM-BACKPRESSURE" },
    },
    "provider.broken-stream-ends-well": {
      breaks: ["UPSTREAM-BROKEN"],
      summary: "A stream that the provider interrupts ends like a complete one.",
      with: endingWell,
      detectedBy: { "upstream.broken-stream[chat,close]": "UPSTREAM-BROKEN" },
    },
    "provider.truncated-stream-retried": {
      breaks: ["UPSTREAM-BLIND-RETRY", "UPSTREAM-REPLY"],
      summary: "An interrupted stream is requested again, and the new one is appended.",
      with: askingAgain,
    },
  }),
];

function flattened(value: JsonObject): JsonObject {
  const flat = (inputs: unknown): JsonObject =>
    Object.fromEntries(
      Object.entries(isObject(inputs) ? inputs : {}).map(([name, one]) => [
        name,
        isObject(one) ? JSON.stringify(one) : one,
      ]),
    ) as JsonObject;
  const content = member(value, "content");
  if (Array.isArray(content))
    return {
      ...value,
      content: content.map((block) =>
        isObject(block) && "input" in block ? { ...block, input: flat(block["input"]) } : block,
      ),
    } as JsonObject;
  return JSON.parse(
    JSON.stringify(value, (name, inner: unknown) =>
      name === "arguments" && typeof inner === "string" ? JSON.stringify(flat(JSON.parse(inner))) : inner,
    ),
  ) as JsonObject;
}
