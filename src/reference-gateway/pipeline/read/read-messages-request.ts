import { isObject, member } from "../../../core/index.ts";
import { type InferenceRequest, type Reading, selectTool, type Tool, type Turn } from "./inference-request.ts";
import { InvalidRequest, objects, optionalFlag, optionalObjects, positiveInteger, text } from "./invalid-request.ts";
import { type Image, readMessagesImage } from "./read-image.ts";

/** Reads a body of the messages dialect. Unknown fields are ignored. */
export function readMessagesRequest(body: Record<string, unknown>, reading: Reading): InferenceRequest {
  const modelId = text(body, "model");
  const maxTokens = positiveInteger(body, "max_tokens");
  const items = objects(body, "messages");
  if (items.length === 0) throw new InvalidRequest("messages", "at least one message is required.");
  const choice = body["tool_choice"];
  return {
    modelId,
    turns: items.map((item, index) => readTurn(item, index, reading)),
    system: readSystem(body, reading),
    maxTokens,
    stream: optionalFlag(body, "stream"),
    includeUsage: true,
    tools: readTools(body),
    parallelTools: member(choice, "disable_parallel_tool_use") !== true,
    format: readFormat(member(body["output_config"], "format") ?? body["output_format"]),
  };
}

function readTools(body: Record<string, unknown>): readonly Tool[] {
  const { tool_choice: choice } = body;
  const tools = optionalObjects(body, "tools").map(readTool);
  const type = member(choice, "type");
  if (type === "tool") return selectTool(tools, member(choice, "name"));
  return type === "none" ? [] : tools;
}

/** The system prompt: a string, or an array of text blocks. */
function readSystem(body: Record<string, unknown>, reading: Reading): string | undefined {
  const { system } = body;
  if (system === undefined || system === null) return undefined;
  if (typeof system === "string") return system;
  return objects(body, "system").map(blockText(reading, [])).join("\n");
}

function readTurn(item: Record<string, unknown>, index: number, reading: Reading): Turn {
  const path = `messages[${index}]`;
  const role = text(item, "role", `${path}.role`);
  if (role === "system") {
    throw new InvalidRequest(`${path}.role`, "the system prompt belongs in the top-level field `system`.");
  }
  if (role !== "user" && role !== "assistant")
    throw new InvalidRequest(`${path}.role`, "user or assistant is expected.");
  const { content } = item;
  if (typeof content === "string") return { role, text: content, images: [] };
  const blocks = objects(item, "content", `${path}.content`);
  const toolResult = blocks.some((block) => block["type"] === "tool_result");
  const images: Image[] = [];
  return { role: toolResult ? "tool" : role, text: blocks.map(blockText(reading, images)).join(""), images };
}

const blockText =
  (reading: Reading, images: Image[]) =>
  (block: Record<string, unknown>, index: number): string => {
    const { type, content } = block;
    if (type === "text" && typeof block["text"] === "string") return block["text"];
    if (type === "tool_use" || type === "thinking" || type === "redacted_thinking") return "";
    if (type === "tool_result") {
      if (typeof content === "string") return content;
      return Array.isArray(content) ? content.filter(isObject).map(blockText(reading, images)).join("") : "";
    }
    if (reading.takesAnyPart) return "";
    if (reading.takesImages && type === "image") {
      images.push(readMessagesImage(block, `content[${index}]`));
      return "";
    }
    throw new InvalidRequest(`content[${index}]`, "this model takes text, tool_use and tool_result blocks only.");
  };

function readFormat(format: unknown): InferenceRequest["format"] {
  return member(format, "type") === "json_schema" ? { schema: member(format, "schema") } : undefined;
}

function readTool(item: Record<string, unknown>, index: number): Tool {
  return { name: text(item, "name", `tools[${index}].name`), schema: item["input_schema"] };
}
