import { isObject, listOf, member } from "../../../src/core/index.ts";
import { chatCall } from "../../../src/dialects/index.ts";
import { textOf } from "./received.ts";

/** A text, a tool call or a tool result. Calls are numbered in order, because a gateway may replace their ids. */
export type ConversationItem =
  | { readonly kind: "text"; readonly role: unknown; readonly text: string }
  | { readonly kind: "call"; readonly call: number; readonly name: unknown; readonly input: unknown }
  | { readonly kind: "result"; readonly call: number | undefined; readonly text: string; readonly isError: boolean };

/** What a conversation with tools means, in either dialect: the same items if only the form differs. */
export function conversationItems(body: unknown): readonly ConversationItem[] {
  const numbers = new Map<unknown, number>();
  const items: ConversationItem[] = [];
  const addText = (role: unknown, text: string) => {
    if (text !== "") items.push({ kind: "text", role, text });
  };
  const addCall = ({ id, name, input }: { readonly id: unknown; readonly name: unknown; readonly input: unknown }) => {
    const call = numbers.size + 1;
    // A second call with the same id cannot be distinguished from the first.
    if (!numbers.has(id)) numbers.set(id, call);
    items.push({ kind: "call", call: numbers.get(id) ?? call, name, input });
  };
  for (const turn of listOf(member(body, "messages"))) {
    const [role, content] = [member(turn, "role"), member(turn, "content")];
    if (role === "tool")
      items.push({
        kind: "result",
        call: numbers.get(member(turn, "tool_call_id")),
        text: textOf(content),
        isError: false,
      });
    else if (typeof content === "string") addText(role, content);
    for (const block of role === "tool" ? [] : listOf(content)) {
      const type = member(block, "type");
      if (type === "tool_use")
        addCall({ id: member(block, "id"), name: member(block, "name"), input: member(block, "input") });
      else if (type === "tool_result")
        items.push({
          kind: "result",
          call: numbers.get(member(block, "tool_use_id")),
          text: textOf(member(block, "content")),
          isError: member(block, "is_error") === true,
        });
      else if (isObject(block)) addText(role, textOf([block]));
    }
    for (const call of listOf(member(turn, "tool_calls"))) addCall(chatCall(call));
  }
  return items;
}

/** The item in words. */
export function describeItem(item: ConversationItem): string {
  if (item.kind === "call") return `call ${item.call}, ${String(item.name)}(${JSON.stringify(item.input)})`;
  const failed = item.kind === "result" && item.isError ? " (an error)" : "";
  const of =
    item.kind === "result" ? `the result of call ${item.call ?? "(unknown id)"}` : `the ${String(item.role)} text`;
  return `${of}${failed}, ${JSON.stringify(item.text)}`;
}
