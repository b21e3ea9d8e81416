import { grid, type Mutation, mutation } from "../../change.ts";
import { drop, put, rename } from "../../edits/replies/json-edits.ts";
import { changeData } from "../../edits/replies/stream-edits.ts";
import { onChat } from "../../edits/when.ts";
import { all, type EventEdit, eachEvent, onReply, type ReplyEdit, wrap } from "../../edits/wrap.ts";

const CHUNKS = ["open", "text", "toolStart", "toolInput", "finish", "usage"] as const;
const chunks = (edit: (data: unknown) => unknown) => eachEvent(onChat, CHUNKS, changeData(edit));
const finish = (edit: (data: unknown) => unknown) => eachEvent(onChat, ["finish"], changeData(edit));

/** What clients of the chat dialect need beyond the specification: chunks, roles, reasons, markers. */
export const COMPAT_CHAT_MUTATIONS: readonly Mutation[] = [
  ...grid(["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY"], finish, {
    "compat.chat-finish-missing": {
      summary: "No chunk has a finish reason.",
      with: put("choices.0.finish_reason", null),
      detectedBy: { "compat.chat-stream[short]": "COMPAT-CHAT-FINISH" },
    },
    "compat.chat-delta-missing": {
      breaks: ["COMPAT-CHAT-CHUNKS"],
      summary: "The last chunk's choice has no delta.",
      with: drop("choices.0.delta"),
    },
  }),
  mutation("compat.chat-finish-empty", {
    breaks: ["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY"],
    summary: "The finish reason of chunks before the last is an empty string.",
    apply: eachEvent(onChat, ["open", "text"], changeData(put("choices.0.finish_reason", ""))),
    detectedBy: { "compat.chat-stream[short]": "COMPAT-CHAT-FINISH" },
  }),
  ...grid(["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY"], (edit: EventEdit) => eachEvent(onChat, ["text"], edit), {
    "compat.chat-finish-early": {
      summary: "Every chunk has a finish reason.",
      with: changeData(put("choices.0.finish_reason", "stop")),
      mayBreak: ["COMPAT-STREAM-ERROR"],
      detectedBy: { "compat.chat-stream[short]": "COMPAT-CHAT-FINISH" },
    },
    "compat.chat-index-counts": {
      breaks: ["COMPAT-CHAT-CHUNKS", "COMPAT-CHAT-REPLY"],
      summary: "The index of the choice is the number of the chunk.",
      with: (event, index) => changeData(put("choices.0.index", index))(event),
    },
    "compat.chat-delta-content-parts": {
      breaks: ["COMPAT-CHAT-CHUNKS", "STREAM-4"],
      summary: "The content of deltas is an array of parts.",
      with: changeData(put("choices.0.delta.content", (text: unknown) => [{ type: "text", text }])),
    },
  }),
  mutation("compat.chat-finish-twice", {
    breaks: ["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY"],
    summary: "The chunk with the finish reason is sent twice.",
    apply: eachEvent(onChat, ["finish"], (event) => [event, event]),
    detectedBy: { "compat.chat-stream[short]": "COMPAT-CHAT-FINISH" },
  }),
  mutation("compat.chat-finish-foreign", {
    breaks: ["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY"],
    summary: "The finish reason is the other dialect's value.",
    apply: all(
      finish(put("choices.0.finish_reason", "end_turn")),
      onReply(onChat, put("choices.0.finish_reason", "end_turn")),
    ),
    detectedBy: { "compat.chat-reply": "COMPAT-CHAT-REPLY" },
  }),
  mutation("compat.chat-finish-hides-cut", {
    breaks: ["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY"],
    summary: "A reply truncated by max_tokens has finish_reason stop.",
    apply: wrap("plan", (next) => (model, request, call) => {
      const plan = next(model, request, call);
      return onChat(call) && plan.kind === "reply" && plan.stop === "length" ? { ...plan, stop: "stop" } : plan;
    }),
  }),
  ...grid(["COMPAT-CHAT-CHUNKS", "COMPAT-CHAT-REPLY"], (edit: ReplyEdit) => onReply(onChat, edit), {
    "compat.chat-finish-missing-non-streaming": {
      breaks: ["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY"],
      summary: "Non-streaming replies have no finish reason.",
      with: drop("choices.0.finish_reason"),
    },
    "compat.chat-no-role-non-streaming": {
      summary: "The message of non-streaming replies has no role.",
      with: drop("choices.0.message.role"),
    },
    "compat.chat-object-missing": { summary: "Non-streaming replies have no object field.", with: drop("object") },
  }),
  mutation("compat.chat-no-role", {
    breaks: ["COMPAT-CHAT-CHUNKS", "COMPAT-CHAT-REPLY"],
    summary: "No chunk has the role.",
    apply: eachEvent(onChat, ["open"], changeData(drop("choices.0.delta.role"))),
  }),
  mutation("compat.chat-role-model", {
    breaks: ["COMPAT-CHAT-CHUNKS", "COMPAT-CHAT-REPLY"],
    summary: "The role of replies is model.",
    apply: all(
      onReply(onChat, put("choices.0.message.role", "model")),
      eachEvent(onChat, ["open"], changeData(put("choices.0.delta.role", "model"))),
    ),
  }),
  ...grid(["COMPAT-CHAT-CHUNKS", "COMPAT-CHAT-REPLY"], chunks, {
    "compat.chat-no-index": { summary: "Choices in chunks have no index.", with: drop("choices.0.index") },
    "compat.chat-message-in-chunk": {
      breaks: ["COMPAT-CHAT-CHUNKS", "STREAM-4"],
      summary: "Chunks have a message instead of a delta.",
      with: (data) => put("choices.0", rename("delta", "message"))(data),
    },
    "compat.chat-object-wrong": {
      summary: "Chunks have the object type of non-streaming replies.",
      with: put("object", "chat.completion"),
    },
  }),
  mutation("compat.chat-id-changes", {
    breaks: ["COMPAT-REPLY-ID"],
    summary: "Every chunk has a different id.",
    apply: eachEvent(onChat, CHUNKS, (event, index) => changeData(put("id", `chatcmpl-${index}`))(event)),
  }),
  mutation("compat.chat-id-constant", {
    breaks: ["COMPAT-REPLY-ID"],
    summary: "Every reply has the same id.",
    apply: all(onReply(onChat, put("id", "chatcmpl-0")), chunks(put("id", "chatcmpl-0"))),
  }),
  mutation("compat.chat-id-number", {
    breaks: ["COMPAT-REPLY-ID"],
    summary: "The id of replies is a number.",
    apply: all(onReply(onChat, put("id", 12_345)), chunks(put("id", 12_345))),
  }),
  mutation("compat.chat-created-milliseconds", {
    breaks: ["COMPAT-CHAT-REPLY", "COMPAT-CHAT-CHUNKS"],
    summary: "created is in milliseconds.",
    apply: all(
      onReply(
        onChat,
        put("created", (seconds: unknown) => Number(seconds) * 1_000),
      ),
      chunks(put("created", (seconds: unknown) => Number(seconds) * 1_000)),
    ),
  }),
  mutation("compat.chat-created-text", {
    breaks: ["COMPAT-CHAT-REPLY", "COMPAT-CHAT-CHUNKS"],
    summary: "created is a date string.",
    apply: all(onReply(onChat, put("created", "2026-01-01T00:00:00Z")), chunks(put("created", "2026-01-01T00:00:00Z"))),
  }),
  ...grid(["COMPAT-CHAT-USAGE"], (edit: EventEdit) => eachEvent(onChat, ["usage"], edit), {
    "compat.chat-no-usage-chunk": {
      summary: "Streams have no usage although it was requested.",
      with: () => undefined,
    },
    "compat.chat-usage-chunk-null": {
      summary: "usage is null in the usage chunk.",
      with: changeData(put("usage", null)),
    },
    "compat.chat-usage-chunk-without-choices": {
      summary: "The usage chunk has no choices field.",
      with: changeData(drop("choices")),
    },
    "compat.chat-stream-usage-differs": {
      breaks: ["COMPAT-USAGE"],
      summary: "Streams report twice the tokens of the non-streaming reply.",
      with: changeData(put("usage.completion_tokens", (count: unknown) => Number(count) * 2)),
    },
  }),
];
