import { type Mutation, mutation } from "../change.ts";
import { drop, put, rename } from "../edits/replies/json-edits.ts";
import { changeData } from "../edits/replies/stream-edits.ts";
import { onChat } from "../edits/when.ts";
import { all, eachEvent, onReply, wrap } from "../edits/wrap.ts";

const CHUNKS = ["open", "text", "toolStart", "toolInput", "finish", "usage"] as const;
const chunks = (edit: (data: unknown) => unknown) => eachEvent(onChat, CHUNKS, changeData(edit));
const finish = (edit: (data: unknown) => unknown) => eachEvent(onChat, ["finish"], changeData(edit));

/** What clients of the chat dialect need beyond the specification: chunks, roles, reasons, markers. */
export const COMPAT_CHAT_MUTATIONS: readonly Mutation[] = [
  mutation(
    "compat.chat-finish-missing",
    ["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY"],
    "No chunk has a finish reason.",
    finish(put("choices.0.finish_reason", null)),
  ),
  mutation(
    "compat.chat-finish-empty",
    ["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY"],
    "The finish reason of chunks before the last is an empty string.",
    eachEvent(onChat, ["open", "text"], changeData(put("choices.0.finish_reason", ""))),
  ),
  mutation(
    "compat.chat-finish-early",
    ["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY"],
    "Every chunk has a finish reason.",
    eachEvent(onChat, ["text"], changeData(put("choices.0.finish_reason", "stop"))),
  ),
  mutation(
    "compat.chat-finish-twice",
    ["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY"],
    "The chunk with the finish reason is sent twice.",
    eachEvent(onChat, ["finish"], (event) => [event, event]),
  ),
  mutation(
    "compat.chat-finish-foreign",
    ["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY"],
    "The finish reason is the other dialect's value.",
    all(
      finish(put("choices.0.finish_reason", "end_turn")),
      onReply(onChat, put("choices.0.finish_reason", "end_turn")),
    ),
  ),
  mutation(
    "compat.chat-finish-hides-cut",
    ["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY"],
    "A reply truncated by max_tokens has finish_reason stop.",
    wrap("plan", (next) => (model, request, call) => {
      const plan = next(model, request, call);
      return onChat(call) && plan.kind === "reply" && plan.stop === "length" ? { ...plan, stop: "stop" } : plan;
    }),
  ),
  mutation(
    "compat.chat-finish-missing-non-streaming",
    ["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY"],
    "Non-streaming replies have no finish reason.",
    onReply(onChat, drop("choices.0.finish_reason")),
  ),
  mutation(
    "compat.chat-no-role",
    ["COMPAT-CHAT-CHUNKS", "COMPAT-CHAT-REPLY"],
    "No chunk has the role.",
    eachEvent(onChat, ["open"], changeData(drop("choices.0.delta.role"))),
  ),
  mutation(
    "compat.chat-no-role-non-streaming",
    ["COMPAT-CHAT-CHUNKS", "COMPAT-CHAT-REPLY"],
    "The message of non-streaming replies has no role.",
    onReply(onChat, drop("choices.0.message.role")),
  ),
  mutation(
    "compat.chat-role-model",
    ["COMPAT-CHAT-CHUNKS", "COMPAT-CHAT-REPLY"],
    "The role of replies is model.",
    all(
      onReply(onChat, put("choices.0.message.role", "model")),
      eachEvent(onChat, ["open"], changeData(put("choices.0.delta.role", "model"))),
    ),
  ),
  mutation(
    "compat.chat-no-index",
    ["COMPAT-CHAT-CHUNKS", "COMPAT-CHAT-REPLY"],
    "Choices in chunks have no index.",
    chunks(drop("choices.0.index")),
  ),
  mutation(
    "compat.chat-index-counts",
    ["COMPAT-CHAT-CHUNKS", "COMPAT-CHAT-REPLY"],
    "The index of the choice is the number of the chunk.",
    eachEvent(onChat, ["text"], (event, index) => changeData(put("choices.0.index", index))(event)),
  ),
  mutation(
    "compat.chat-delta-missing",
    ["COMPAT-CHAT-CHUNKS"],
    "The last chunk's choice has no delta.",
    finish(drop("choices.0.delta")),
  ),
  mutation(
    "compat.chat-delta-content-parts",
    ["COMPAT-CHAT-CHUNKS", "STREAM-4"],
    "The content of deltas is an array of parts.",
    eachEvent(
      onChat,
      ["text"],
      changeData(put("choices.0.delta.content", (text: unknown) => [{ type: "text", text }])),
    ),
  ),
  mutation(
    "compat.chat-message-in-chunk",
    ["COMPAT-CHAT-CHUNKS", "STREAM-4"],
    "Chunks have a message instead of a delta.",
    chunks((data) => put("choices.0", rename("delta", "message"))(data)),
  ),
  mutation(
    "compat.chat-object-wrong",
    ["COMPAT-CHAT-CHUNKS", "COMPAT-CHAT-REPLY"],
    "Chunks have the object type of non-streaming replies.",
    chunks(put("object", "chat.completion")),
  ),
  mutation(
    "compat.chat-object-missing",
    ["COMPAT-CHAT-CHUNKS", "COMPAT-CHAT-REPLY"],
    "Non-streaming replies have no object field.",
    onReply(onChat, drop("object")),
  ),
  mutation(
    "compat.chat-id-changes",
    ["COMPAT-REPLY-ID"],
    "Every chunk has a different id.",
    eachEvent(onChat, CHUNKS, (event, index) => changeData(put("id", `chatcmpl-${index}`))(event)),
  ),
  mutation(
    "compat.chat-id-constant",
    ["COMPAT-REPLY-ID"],
    "Every reply has the same id.",
    all(onReply(onChat, put("id", "chatcmpl-0")), chunks(put("id", "chatcmpl-0"))),
  ),
  mutation(
    "compat.chat-id-number",
    ["COMPAT-REPLY-ID"],
    "The id of replies is a number.",
    all(onReply(onChat, put("id", 12_345)), chunks(put("id", 12_345))),
  ),
  mutation(
    "compat.chat-created-milliseconds",
    ["COMPAT-CHAT-REPLY", "COMPAT-CHAT-CHUNKS"],
    "created is in milliseconds.",
    all(
      onReply(
        onChat,
        put("created", (seconds: unknown) => Number(seconds) * 1_000),
      ),
      chunks(put("created", (seconds: unknown) => Number(seconds) * 1_000)),
    ),
  ),
  mutation(
    "compat.chat-created-text",
    ["COMPAT-CHAT-REPLY", "COMPAT-CHAT-CHUNKS"],
    "created is a date string.",
    all(onReply(onChat, put("created", "2026-01-01T00:00:00Z")), chunks(put("created", "2026-01-01T00:00:00Z"))),
  ),
  mutation(
    "compat.chat-no-usage-chunk",
    ["COMPAT-CHAT-USAGE"],
    "Streams have no usage although it was requested.",
    eachEvent(onChat, ["usage"], () => undefined),
  ),
  mutation(
    "compat.chat-usage-chunk-null",
    ["COMPAT-CHAT-USAGE"],
    "usage is null in the usage chunk.",
    eachEvent(onChat, ["usage"], changeData(put("usage", null))),
  ),
  mutation(
    "compat.chat-usage-chunk-without-choices",
    ["COMPAT-CHAT-USAGE"],
    "The usage chunk has no choices field.",
    eachEvent(onChat, ["usage"], changeData(drop("choices"))),
  ),
  mutation(
    "compat.chat-stream-usage-differs",
    ["COMPAT-USAGE"],
    "Streams report twice the tokens of the non-streaming reply.",
    eachEvent(onChat, ["usage"], changeData(put("usage.completion_tokens", (count: unknown) => Number(count) * 2))),
  ),
];
