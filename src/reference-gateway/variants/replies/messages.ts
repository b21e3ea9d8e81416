import { isObject, member } from "../../../core/index.ts";
import { type Variant, variant } from "../../change.ts";
import { refuseBody } from "../../edits/replies/body-edits.ts";
import { put, rename } from "../../edits/replies/json-edits.ts";
import { changeData } from "../../edits/replies/stream-edits.ts";
import { both, datedVersion, every, onMessages, streaming } from "../../edits/when.ts";
import { type Apply, all, onEvents, onReply, wrap } from "../../edits/wrap.ts";
import type { StreamEvent } from "../../pipeline/response.ts";

const THINKING = { type: "thinking", thinking: "The user wants something.", signature: "c2ln" };

/** An extra first block, in non-streaming replies and in streams. */
const thinkingFirst: Apply = all(
  onReply(
    onMessages,
    put("content", (blocks: unknown) => [THINKING, ...(blocks as unknown[])]),
  ),
  onEvents(onMessages, (events) => {
    const open = events.findIndex((event) => event.kind === "open");
    const shifted = events.map((event) =>
      isObject(event.data) && "index" in event.data
        ? changeData(put("index", (index: unknown) => Number(index) + 1))(event)
        : event,
    );
    const thought: StreamEvent[] = [
      {
        kind: "other",
        atMs: 0,
        tokens: 0,
        name: "content_block_start",
        data: { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
      },
      {
        kind: "other",
        atMs: 0,
        tokens: 0,
        name: "content_block_delta",
        data: { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: THINKING.thinking } },
      },
      { kind: "other", atMs: 0, tokens: 0, name: "content_block_stop", data: { type: "content_block_stop", index: 0 } },
    ];
    return [...shifted.slice(0, open + 1), ...thought, ...shifted.slice(open + 1)];
  }),
);

/** Requests and replies of the messages dialect, with more or fewer of the fields that the interface does not show. */
export const MESSAGES_VARIANTS: readonly Variant[] = [
  variant("messages.thinking-first", "Messages replies begin with a thinking block.", thinkingFirst),
  variant(
    "messages.unknown-block-last",
    "Messages replies end with a block of unknown type.",
    onReply(
      onMessages,
      put("content", (blocks: unknown) => [
        ...(blocks as unknown[]),
        { type: "vendor_note", note: { text: "not text" } },
      ]),
    ),
  ),
  variant(
    "messages.more-fields",
    "Messages replies have vendor fields.",
    all(
      onReply(onMessages, (value) => ({ ...(value as object), container: null, context_management: null })),
      onReply(
        onMessages,
        put("usage", (usage: unknown) => ({
          ...(usage as object),
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          service_tier: "standard",
          server_tool_use: null,
        })),
      ),
    ),
  ),
  variant(
    "messages.no-optional-fields",
    "Messages replies have only the documented fields.",
    onReply(onMessages, (value) => ({ content: member(value, "content"), usage: member(value, "usage") })),
    [
      "COMPAT-MSG-REPLY",
      "COMPAT-MSG-EVENTS",
      "COMPAT-REPLY-ID",
      "COMPAT-CHAT-REPLY",
      "COMPAT-CHAT-CHUNKS",
      "COMPAT-TOOLS",
    ],
  ),
  variant(
    "messages.usage-other-names",
    "Token counts have the names of the other dialect.",
    onReply(
      onMessages,
      put("usage", (usage: unknown) =>
        rename("output_tokens", "completion_tokens")(rename("input_tokens", "prompt_tokens")(usage)),
      ),
    ),
    ["COMPAT-USAGE"],
  ),
  variant(
    "messages.stream-ignored",
    "stream is ignored on the messages endpoint: replies are never streamed.",
    wrap("readRequest", (next) => (call) => {
      const request = next(call);
      return "reason" in request || !onMessages(call) ? request : { ...request, stream: false };
    }),
    ["COMPAT-MSG-STREAM"],
  ),
  variant(
    "messages.stream-refused",
    "Streams on the messages endpoint are rejected.",
    refuseBody(both(onMessages, streaming), { message: "stream: not supported here." }),
    ["COMPAT-MSG-STREAM"],
  ),
  variant(
    "messages.max-tokens-up-to-4096",
    "A max_tokens above 4,096 is rejected: the model cannot produce more.",
    refuseBody((call) => onMessages(call) && Number(member(call.parsed, "max_tokens")) > 4_096, {
      message: "max_tokens: the most is 4096.",
    }),
  ),
  variant(
    "messages.version-mandatory",
    "A messages request without the dated version header is rejected.",
    refuseBody((call) => onMessages(call) && datedVersion(call) === undefined, {
      message: "The version header is required.",
    }),
  ),
  variant(
    "messages.future-version-refused",
    "A version date in the future is rejected.",
    refuseBody((call) => onMessages(call) && (datedVersion(call) ?? "") > "2030-01-01", {
      message: "The version is not known.",
    }),
  ),
  variant(
    "messages.system-ignored-now-and-then",
    "The model ignores every third system prompt.",
    wrap(
      "plan",
      (next) => (model, request, call) =>
        next(model, everyThirdSystem(call) ? { ...request, system: undefined } : request, call),
    ),
  ),
  variant(
    "messages.system-turns-applied",
    "A system turn inside a messages conversation is used as a system prompt.",
    systemTurns((turns, system) => ({
      system: [system, ...turns.map((turn) => String(turn["content"]))]
        .filter((text) => typeof text === "string")
        .join("\n"),
    })),
  ),
  variant(
    "messages.system-turns-ignored",
    "A system turn inside a messages conversation is ignored.",
    systemTurns(() => ({})),
  ),
  variant(
    "messages.first-turn-must-be-users",
    "A messages conversation must begin with a user turn.",
    refuseBody((call) => onMessages(call) && call.request?.turns[0]?.role === "assistant", {
      message: "messages[0].role: user is expected.",
    }),
  ),
];

type Turn = Record<string, unknown>;

const everyThirdSystem = every(3, (call) => onMessages(call) && call.request?.system !== undefined);

/** Removes system turns from a messages conversation. */
function systemTurns(rest: (turns: readonly Turn[], system: unknown) => object): Apply {
  return wrap("readRequest", (next) => (call) => {
    const turns = member(call.parsed, "messages");
    if (!onMessages(call) || !isObject(call.parsed) || !Array.isArray(turns)) return next(call);
    const system = turns.filter((turn) => member(turn, "role") === "system") as Turn[];
    if (system.length === 0) return next(call);
    const others = turns.filter((turn) => member(turn, "role") !== "system");
    call.parsed = { ...call.parsed, messages: others, ...rest(system, call.parsed["system"]) };
    return next(call);
  });
}
