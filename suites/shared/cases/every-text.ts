import { type Check, defineInvariant, type Response } from "../../../src/checks/index.ts";
import { isObject, member } from "../../../src/core/index.ts";
import { type Dialect, parseJson } from "../../../src/dialects/index.ts";

const REQUIREMENT = { chat: "CHAT-2", messages: "MSG-2" } as const;

/** The text in every non-streaming reply of a run, whatever was requested: a system turn, tools, any parameters. */
export function everyText(dialect: Dialect): Check {
  return defineInvariant({
    id: `${dialect}.every-text`,
    title: "Every non-streaming reply of the run has its text in the expected field",
    covers: [REQUIREMENT[dialect]],
    explains:
      "Checks every non-streaming reply of the run in this dialect, including replies to parameters that the gateway need not accept. A chat reply to a conversation must have a choice, and an object at `choices[0].message` whose `content` is text, or null with something else, such as tool calls; a messages reply must have a list of blocks at `content`, and text in the text blocks.",
    judge(responses, verdict) {
      const replies = responses.filter((response) => isWholeReply(response, dialect));
      if (replies.length === 0) return verdict.inconclusive("no non-streaming reply was seen");
      const without = replies.filter((response) => !(dialect === "chat" ? hasMessage(response) : hasBlocks(response)));
      verdict.must(REQUIREMENT[dialect], without.length, 0, {
        in: without[0] ?? replies[0],
        at: dialect === "chat" ? "/choices/0/message" : "/content",
        because: `non-streaming replies (of ${replies.length}) without their text in its place`,
      });
    },
  });
}

/** A 2xx document with the list that a reply of this dialect has. */
function isWholeReply(response: Response, dialect: Dialect): boolean {
  const { requested, status = 0, complete } = response;
  if (requested.endpoint !== dialect || requested.mode !== "non-streaming" || !complete || response.streamed)
    return false;
  const list = member(response.json, dialect === "chat" ? "choices" : "content");
  if (status < 200 || status > 299 || !Array.isArray(list)) return false;
  // A model may return no blocks, but there are as many choices as were requested.
  return list.length > 0 || (dialect === "chat" && asksForAReply(response));
}

/** A conversation that does not request more or fewer than one reply. */
function asksForAReply({ exchange }: Response): boolean {
  const sent = parseJson(exchange.request.body ?? "");
  const messages = member(sent, "messages");
  return Array.isArray(messages) && messages.length > 0 && member(sent, "n") === undefined;
}

function hasMessage({ json, requested }: Response): boolean {
  const choices = member(json, "choices");
  const message = member(Array.isArray(choices) ? choices[0] : undefined, "message");
  if (!isObject(message)) return false;
  if (typeof message["content"] === "string") return true;
  const more = Object.keys(message).some((name) => name !== "role" && name !== "content");
  return (message["content"] ?? null) === null && (more || requested.intent !== "valid");
}

function hasBlocks({ json }: Response): boolean {
  const blocks = member(json, "content");
  if (!Array.isArray(blocks)) return false;
  return blocks.every((block) => isObject(block) && (block["type"] !== "text" || typeof block["text"] === "string"));
}
