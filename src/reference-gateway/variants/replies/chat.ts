import { member } from "../../../core/index.ts";
import { type Variant, variant } from "../../change.ts";
import { has, refuseBody } from "../../edits/replies/body-edits.ts";
import { drop, put } from "../../edits/replies/json-edits.ts";
import { insteadOf } from "../../edits/replies/response-edits.ts";
import { changeData } from "../../edits/replies/stream-edits.ts";
import { both, every, extraField, inference, not, onChat } from "../../edits/when.ts";
import { type Apply, all, eachEvent, onReply, onServed, wrap } from "../../edits/wrap.ts";

const chunks = (edit: (data: unknown) => unknown): Apply =>
  eachEvent(onChat, ["open", "text", "toolStart", "toolInput", "finish", "usage"], changeData(edit));

const withTopP = both(
  onChat,
  has("top_p", () => true),
);

/** Requests and replies of the chat dialect, with more or fewer of the fields that the interface does not show. */
export const CHAT_VARIANTS: readonly Variant[] = [
  variant("chat.no-ids", "Chat replies have no id.", all(onReply(onChat, drop("id")), chunks(drop("id"))), [
    "COMPAT-REPLY-ID",
  ]),
  variant(
    "chat.no-created",
    "Chat replies have no created field.",
    all(onReply(onChat, drop("created")), chunks(drop("created"))),
    ["COMPAT-CHAT-REPLY", "COMPAT-CHAT-CHUNKS"],
  ),
  variant(
    "chat.no-object",
    "Chat replies have no object field.",
    all(onReply(onChat, drop("object")), chunks(drop("object"))),
    ["COMPAT-CHAT-CHUNKS", "COMPAT-CHAT-REPLY"],
  ),
  variant(
    "chat.no-model",
    "Chat replies do not name the model.",
    all(onReply(onChat, drop("model")), chunks(drop("model"))),
    ["COMPAT-CHAT-REPLY", "COMPAT-CHAT-CHUNKS"],
  ),
  variant(
    "chat.model-with-a-date",
    "Chat replies have a dated model name.",
    all(
      onReply(
        onChat,
        put("model", (name: unknown) => `${String(name)}-2024-08-06`),
      ),
      chunks(put("model", (name: unknown) => `${String(name)}-2024-08-06`)),
    ),
  ),
  variant(
    "chat.model-with-a-provider",
    "Non-streaming chat replies prefix the model name with the provider.",
    onReply(
      onChat,
      put("model", (name: unknown) => `vendor/${String(name)}`),
    ),
  ),
  variant(
    "chat.top-p-hiccup",
    "Every other request with top_p gets a provider failure.",
    onServed(both(withTopP, not(every(2, withTopP))), insteadOf("upstream_error", { status: 502 })),
  ),
  variant(
    "chat.no-finish-reason",
    "Choices of non-streaming chat replies have no finish reason.",
    onReply(onChat, drop("choices.0.finish_reason")),
    ["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY", "COMPAT-TOOLS"],
  ),
  variant(
    "chat.more-fields",
    "Chat replies have vendor fields: fingerprints, tiers, filters.",
    all(
      onReply(onChat, (value) => ({
        ...(value as object),
        system_fingerprint: "fp_1",
        service_tier: "default",
        provider: "reference",
        x_groq: { id: "1" },
      })),
      onReply(onChat, put("choices.0.content_filter_results", { hate: { filtered: false } })),
      chunks(put("system_fingerprint", "fp_1")),
    ),
  ),
  variant(
    "chat.refusal-null",
    "Messages of chat replies have null in unused fields.",
    onReply(
      onChat,
      put("choices.0.message", (message: unknown) => ({
        refusal: null,
        annotations: [],
        audio: null,
        function_call: null,
        tool_calls: null,
        ...(message as object),
      })),
    ),
  ),
  variant(
    "chat.reasoning-field",
    "Non-streaming chat replies have reasoning in a separate field.",
    onReply(onChat, put("choices.0.message.reasoning_content", "The user wants something.")),
  ),
  variant(
    "chat.usage-details",
    "usage contains details.",
    onReply(
      onChat,
      put("usage", (usage: unknown) => ({
        ...(usage as object),
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
        cost: 0.00012,
      })),
    ),
  ),
  variant(
    "chat.usage-other-names",
    "Token counts have the names of the other dialect.",
    all(
      onReply(
        onChat,
        put("usage", (usage: unknown) => ({
          input_tokens: member(usage, "prompt_tokens"),
          output_tokens: member(usage, "completion_tokens"),
        })),
      ),
      eachEvent(
        onChat,
        ["usage"],
        changeData(
          put("usage", (usage: unknown) => ({
            input_tokens: member(usage, "prompt_tokens"),
            output_tokens: member(usage, "completion_tokens"),
          })),
        ),
      ),
    ),
    ["COMPAT-USAGE", "COMPAT-CHAT-USAGE", "COUNTS-ADD-UP"],
  ),
  variant(
    "chat.finish-in-other-words",
    "Finish reasons are custom words.",
    all(
      onReply(onChat, put("choices.0.finish_reason", "completed")),
      eachEvent(onChat, ["finish"], changeData(put("choices.0.finish_reason", "completed"))),
    ),
    ["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY", "COMPAT-TOOLS"],
  ),
  variant(
    "chat.unknown-fields-refused",
    "A request with an undocumented field is rejected.",
    refuseBody(both(onChat, extraField), { message: "Unknown field." }),
    ["CAP-1", "COMPAT-TOOLS"],
  ),
  variant(
    "chat.tools-ignored",
    "Offered tools are never called.",
    wrap("readRequest", (next) => (call) => {
      const request = next(call);
      return "reason" in request ? request : { ...request, tools: [] };
    }),
    ["CAP-1", "COMPAT-TOOLS"],
  ),
  variant(
    "both.array-content-refused",
    "Content must be a string.",
    refuseBody((call) => inference(call) && hasArrayContent(call.parsed), {
      message: "messages: content must be a string.",
    }),
    ["CAP-1", "COMPAT-CHAT-TURNS", "COMPAT-TOOLS", "COMPAT-TOOL-RESULT", "COMPAT-IMAGES"],
  ),
];

function hasArrayContent(body: unknown): boolean {
  const turns = member(body, "messages");
  return Array.isArray(turns) && turns.some((turn) => Array.isArray(member(turn, "content")));
}
