import { member } from "../../core/index.ts";
import { type Mutation, mutation } from "../change.ts";
import { drop, put } from "../edits/replies/json-edits.ts";
import { insteadOf } from "../edits/replies/response-edits.ts";
import { changeData } from "../edits/replies/stream-edits.ts";
import { both, onChat, onMessages, streaming, type When } from "../edits/when.ts";
import { type Apply, eachEvent, onReply, onServed, wrap } from "../edits/wrap.ts";

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
  mutation(
    "tools.arguments-object",
    ARGUMENTS,
    "The arguments of a call are an object instead of a JSON string.",
    wholeCall("*.function.arguments", (json: unknown) => JSON.parse(String(json))),
  ),
  mutation(
    "tools.arguments-empty",
    ARGUMENTS,
    "The arguments of a call are an empty string.",
    wholeCall("*.function.arguments", ""),
  ),
  mutation(
    "tools.first-fragment-lost",
    ARGUMENTS,
    "The first fragment of the arguments is lost.",
    eachEvent(onChat, ["toolInput"], (event, index) => (index === 0 ? undefined : event)),
  ),
  mutation(
    "tools.last-fragment-lost",
    ARGUMENTS,
    "The last fragment of the arguments is lost.",
    eachEvent(onChat, ["toolInput"], (event, index, count) => (index === count - 1 ? undefined : event)),
  ),
  mutation(
    "tools.fragments-cumulative",
    ARGUMENTS,
    "Each fragment repeats everything before it.",
    wrap("events", (next) => (plan, call) => {
      let joined = "";
      return [...next(plan, call)].map((event) => {
        if (!onChat(call) || event.kind === "text") return event;
        if (event.kind === "toolStart") joined = "";
        if (event.kind !== "toolInput") return event;
        return changeData(put(`${CALL}.function.arguments`, (part: unknown) => (joined += String(part))))(event);
      });
    }),
  ),
  mutation(
    "tools.arguments-escaped-twice",
    ARGUMENTS,
    "The arguments are JSON-encoded twice.",
    wholeCall("*.function.arguments", (json: unknown) => JSON.stringify(json)),
  ),
  mutation("tools.no-index", ["COMPAT-TOOLS"], "Fragments have no call index.", calls(drop(`${CALL}.index`))),
  mutation("tools.index-always-zero", ["COMPAT-TOOLS"], "All calls have index 0.", calls(put(`${CALL}.index`, 0))),
  mutation(
    "tools.no-id",
    ["COMPAT-TOOLS"],
    "Calls have no id.",
    eachEvent(onChat, ["toolStart"], changeData(drop(`${CALL}.id`))),
  ),
  mutation("tools.same-id", ["COMPAT-TOOLS"], "All calls of a reply have the same id.", wholeCall("*.id", "call_0")),
  mutation(
    "tools.new-id-per-fragment",
    ["COMPAT-TOOLS"],
    "Every fragment has a different id.",
    eachEvent(onChat, ["toolInput"], (event, index) => changeData(put(`${CALL}.id`, `call_f${index}`))(event)),
  ),
  mutation(
    "tools.name-in-every-fragment",
    ["COMPAT-TOOLS"],
    "Every fragment repeats the function name.",
    eachEvent(onChat, ["toolInput"], changeData(put(`${CALL}.function.name`, "repeated"))),
  ),
  mutation(
    "tools.name-missing",
    ["COMPAT-TOOLS"],
    "The first fragment has no function name.",
    eachEvent(onChat, ["toolStart"], changeData(drop(`${CALL}.function.name`))),
  ),
  mutation(
    "tools.finish-says-stop",
    ["COMPAT-TOOLS"],
    "A reply with tool calls has finish_reason stop.",
    wrap("plan", (next) => (model, request, call) => {
      const plan = next(model, request, call);
      return onChat(call) && plan.kind === "reply" && saysToolsUsed(plan) ? { ...plan, stop: "stop" } : plan;
    }),
  ),
  mutation(
    "tools.stop-reason-end-turn",
    ["COMPAT-TOOLS"],
    "A reply with tool-use blocks has stop_reason end_turn.",
    wrap("plan", (next) => (model, request, call) => {
      const plan = next(model, request, call);
      return onMessages(call) && plan.kind === "reply" && saysToolsUsed(plan) ? { ...plan, stop: "stop" } : plan;
    }),
  ),
  mutation(
    "tools.second-call-lost",
    ["COMPAT-TOOLS"],
    "The second of two calls in one reply is lost.",
    onReply(
      onChat,
      put("choices.0.message.tool_calls", (all: unknown) => (Array.isArray(all) ? all.slice(0, 1) : all)),
    ),
  ),
  mutation(
    "tools.second-use-block-lost",
    ["COMPAT-TOOLS"],
    "The second of two tool-use blocks in one reply is lost.",
    onReply(
      onMessages,
      put("content", (blocks: unknown) => {
        const uses = (blocks as unknown[]).filter((block) => member(block, "type") === "tool_use");
        return (blocks as unknown[]).filter((block) => !uses.includes(block) || block === uses[0]);
      }),
    ),
  ),
  mutation(
    "tools.use-blocks-dropped",
    ["COMPAT-TOOLS", "CAP-1"],
    "Tool-use blocks are dropped from non-streaming replies.",
    onReply(
      onMessages,
      put("content", (blocks: unknown) =>
        (blocks as unknown[]).filter((block) => member(block, "type") !== "tool_use"),
      ),
    ),
  ),
  mutation(
    "tools.input-as-text",
    ["COMPAT-TOOLS"],
    "The input of a tool-use block is a JSON string instead of an object.",
    onReply(
      onMessages,
      put("content.*", (block: unknown) =>
        member(block, "type") === "tool_use"
          ? { ...(block as object), input: JSON.stringify(member(block, "input")) }
          : block,
      ),
    ),
  ),
  mutation(
    "tools.input-fragment-lost",
    ["COMPAT-TOOLS"],
    "The first fragment of a tool's input is lost on the messages endpoint.",
    eachEvent(onMessages, ["toolInput"], (event, index) => (index === 0 ? undefined : event)),
  ),
  mutation(
    "tools.input-as-text-delta",
    ["COMPAT-TOOLS"],
    "Fragments of a tool's input have the type of text.",
    eachEvent(
      onMessages,
      ["toolInput"],
      changeData((data) =>
        put("delta", { type: "text_delta", text: member(member(data, "delta"), "partial_json") })(data),
      ),
    ),
  ),
  mutation(
    "tools.use-without-id",
    ["COMPAT-TOOLS"],
    "Tool-use blocks have no id.",
    onReply(onMessages, put("content.*", drop("id"))),
  ),
  mutation(
    "tools.stream-500",
    ["COMPAT-TOOLS"],
    "A stream with tools gets 500.",
    onServed(both(withTools, streaming), insteadOf("internal_error")),
  ),
  mutation(
    "tools.result-refused",
    ["COMPAT-TOOL-RESULT"],
    "A conversation with a tool result gets 500.",
    onServed(
      ({ parsed }) => JSON.stringify(member(parsed, "messages") ?? []).match(/"role":"tool"|"tool_result"/) !== null,
      insteadOf("internal_error"),
    ),
  ),
];
