import { member } from "../../../core/index.ts";
import { grid, type Mutation, mutation } from "../../change.ts";
import { drop, put } from "../../edits/replies/json-edits.ts";
import { insteadOf } from "../../edits/replies/response-edits.ts";
import { changeData } from "../../edits/replies/stream-edits.ts";
import { both, onChat, onMessages, streaming, type When } from "../../edits/when.ts";
import { type Apply, type EventEdit, eachEvent, onReply, onServed, type ReplyEdit, wrap } from "../../edits/wrap.ts";

const CALL = "choices.0.delta.tool_calls.0";
const calls = (edit: (data: unknown) => unknown): Apply =>
  eachEvent(onChat, ["toolStart", "toolInput"], changeData(edit));
const wholeCall = (path: string, value: unknown): Apply =>
  onReply(onChat, put(`choices.0.message.tool_calls.${path}`, value));
const withTools: When = ({ parsed }) => Array.isArray(member(parsed, "tools"));
const saysToolsUsed = (plan: { stop: string }) => plan.stop === "tools";

const ARGUMENTS = ["COMPAT-TOOLS"];

/** Tool calls, complete and in fragments. */
export const TOOL_MUTATIONS: readonly Mutation[] = [
  ...grid(ARGUMENTS, (edit: unknown) => wholeCall("*.function.arguments", edit), {
    "tools.arguments-object": {
      summary: "The arguments of a call are an object instead of a JSON string.",
      with: (json: unknown) => JSON.parse(String(json)),
      detectedBy: { "compat.chat-tools": "COMPAT-TOOLS" },
    },
    "tools.arguments-empty": {
      summary: "The arguments of a call are an empty string.",
      with: "",
      detectedBy: { "compat.chat-tools": "COMPAT-TOOLS" },
    },
    "tools.arguments-escaped-twice": {
      summary: "The arguments are JSON-encoded twice.",
      with: (json: unknown) => JSON.stringify(json),
    },
  }),
  ...grid(ARGUMENTS, (edit: EventEdit) => eachEvent(onChat, ["toolInput"], edit), {
    "tools.first-fragment-lost": {
      summary: "The first fragment of the arguments is lost.",
      with: (event, index) => (index === 0 ? undefined : event),
      detectedBy: { "compat.chat-tools": "COMPAT-TOOLS" },
    },
    "tools.last-fragment-lost": {
      summary: "The last fragment of the arguments is lost.",
      with: (event, index, count) => (index === count - 1 ? undefined : event),
      detectedBy: { "compat.chat-tools": "COMPAT-TOOLS" },
    },
    "tools.new-id-per-fragment": {
      summary: "Every fragment has a different id.",
      with: (event, index) => changeData(put(`${CALL}.id`, `call_f${index}`))(event),
    },
    "tools.name-in-every-fragment": {
      summary: "Every fragment repeats the function name.",
      with: changeData(put(`${CALL}.function.name`, "repeated")),
    },
  }),
  mutation("tools.fragments-cumulative", {
    breaks: ARGUMENTS,
    summary: "Each fragment repeats everything before it.",
    apply: wrap("events", (next) => (plan, call) => {
      let joined = "";
      return [...next(plan, call)].map((event) => {
        if (!onChat(call) || event.kind === "text") return event;
        if (event.kind === "toolStart") joined = "";
        if (event.kind !== "toolInput") return event;
        return changeData(put(`${CALL}.function.arguments`, (part: unknown) => (joined += String(part))))(event);
      });
    }),
    detectedBy: { "compat.chat-tools": "COMPAT-TOOLS" },
  }),
  ...grid(ARGUMENTS, calls, {
    "tools.no-index": { summary: "Fragments have no call index.", with: drop(`${CALL}.index`) },
    "tools.index-always-zero": { summary: "All calls have index 0.", with: put(`${CALL}.index`, 0) },
  }),
  mutation("tools.no-id", {
    breaks: ARGUMENTS,
    summary: "Calls have no id.",
    apply: eachEvent(onChat, ["toolStart"], changeData(drop(`${CALL}.id`))),
  }),
  mutation("tools.same-id", {
    breaks: ARGUMENTS,
    summary: "All calls of a reply have the same id.",
    apply: wholeCall("*.id", "call_0"),
  }),
  mutation("tools.name-missing", {
    breaks: ARGUMENTS,
    summary: "The first fragment has no function name.",
    apply: eachEvent(onChat, ["toolStart"], changeData(drop(`${CALL}.function.name`))),
  }),
  mutation("tools.finish-says-stop", {
    breaks: ARGUMENTS,
    summary: "A reply with tool calls has finish_reason stop.",
    apply: wrap("plan", (next) => (model, request, call) => {
      const plan = next(model, request, call);
      return onChat(call) && plan.kind === "reply" && saysToolsUsed(plan) ? { ...plan, stop: "stop" } : plan;
    }),
  }),
  mutation("tools.stop-reason-end-turn", {
    breaks: ARGUMENTS,
    summary: "A reply with tool-use blocks has stop_reason end_turn.",
    apply: wrap("plan", (next) => (model, request, call) => {
      const plan = next(model, request, call);
      return onMessages(call) && plan.kind === "reply" && saysToolsUsed(plan) ? { ...plan, stop: "stop" } : plan;
    }),
  }),
  mutation("tools.second-call-lost", {
    breaks: ARGUMENTS,
    summary: "The second of two calls in one reply is lost.",
    apply: onReply(
      onChat,
      put("choices.0.message.tool_calls", (all: unknown) => (Array.isArray(all) ? all.slice(0, 1) : all)),
    ),
  }),
  ...grid(ARGUMENTS, (edit: ReplyEdit) => onReply(onMessages, edit), {
    "tools.second-use-block-lost": {
      summary: "The second of two tool-use blocks in one reply is lost.",
      with: put("content", (blocks: unknown) => {
        const uses = (blocks as unknown[]).filter((block) => member(block, "type") === "tool_use");
        return (blocks as unknown[]).filter((block) => !uses.includes(block) || block === uses[0]);
      }),
    },
    "tools.use-blocks-dropped": {
      breaks: ["COMPAT-TOOLS", "CAP-1"],
      summary: "Tool-use blocks are dropped from non-streaming replies.",
      with: put("content", (blocks: unknown) =>
        (blocks as unknown[]).filter((block) => member(block, "type") !== "tool_use"),
      ),
    },
    "tools.input-as-text": {
      summary: "The input of a tool-use block is a JSON string instead of an object.",
      with: put("content.*", (block: unknown) =>
        member(block, "type") === "tool_use"
          ? { ...(block as object), input: JSON.stringify(member(block, "input")) }
          : block,
      ),
    },
    "tools.use-without-id": { summary: "Tool-use blocks have no id.", with: put("content.*", drop("id")) },
  }),
  mutation("tools.input-fragment-lost", {
    breaks: ARGUMENTS,
    summary: "The first fragment of a tool's input is lost on the messages endpoint.",
    apply: eachEvent(onMessages, ["toolInput"], (event, index) => (index === 0 ? undefined : event)),
  }),
  mutation("tools.input-as-text-delta", {
    breaks: ARGUMENTS,
    summary: "Fragments of a tool's input have the type of text.",
    apply: eachEvent(
      onMessages,
      ["toolInput"],
      changeData((data) =>
        put("delta", { type: "text_delta", text: member(member(data, "delta"), "partial_json") })(data),
      ),
    ),
  }),
  ...grid(ARGUMENTS, (when: When) => onServed(when, insteadOf("internal_error")), {
    "tools.stream-500": { summary: "A stream with tools gets 500.", with: both(withTools, streaming) },
    "tools.result-refused": {
      breaks: ["COMPAT-TOOL-RESULT"],
      summary: "A conversation with a tool result gets 500.",
      with: ({ parsed }) =>
        JSON.stringify(member(parsed, "messages") ?? []).match(/"role":"tool"|"tool_result"/) !== null,
    },
  }),
];
