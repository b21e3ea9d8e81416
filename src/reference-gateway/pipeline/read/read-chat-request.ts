import { member } from "../../../core/index.ts";
import { type InferenceRequest, type Reading, selectTool, type Tool, type Turn } from "./inference-request.ts";
import {
  InvalidRequest,
  objects,
  optionalFlag,
  optionalObjects,
  optionalPositiveInteger,
  text,
} from "./invalid-request.ts";
import { type Image, readChatImage } from "./read-image.ts";

const ROLES = new Map<string, Turn["role"]>([
  ["system", "system"],
  ["developer", "system"],
  ["user", "user"],
  ["assistant", "assistant"],
  ["tool", "tool"],
  ["function", "tool"],
]);

/** Reads a body of the chat dialect. Unknown fields are ignored. */
export function readChatRequest(body: Record<string, unknown>, reading: Reading): InferenceRequest {
  const modelId = text(body, "model");
  const items = objects(body, "messages");
  if (items.length === 0) throw new InvalidRequest("messages", "at least one message is required.");
  const turns = items.map((item, index) => readTurn(item, index, reading));
  const system = turns.filter((turn) => turn.role === "system").map((turn) => turn.text);
  if (!reading.takesAnyPart && (body["n"] ?? 1) !== 1)
    throw new InvalidRequest("n", "only one choice can be generated.");
  return {
    modelId,
    turns,
    system: system.length === 0 ? undefined : system.join("\n"),
    maxTokens: optionalPositiveInteger(body, "max_completion_tokens") ?? optionalPositiveInteger(body, "max_tokens"),
    stream: optionalFlag(body, "stream"),
    includeUsage: member(body["stream_options"], "include_usage") === true,
    tools: readTools(body),
    parallelTools: body["parallel_tool_calls"] !== false,
    format: readFormat(body["response_format"]),
  };
}

function readTools(body: Record<string, unknown>): readonly Tool[] {
  const { tool_choice: choice } = body;
  const tools = optionalObjects(body, "tools").map(readTool);
  const name = member(member(choice, "function"), "name");
  if (name !== undefined) return selectTool(tools, name);
  return choice === "none" ? [] : tools;
}

function readTurn(item: Record<string, unknown>, index: number, reading: Reading): Turn {
  const path = `messages[${index}]`;
  const role = ROLES.get(text(item, "role", `${path}.role`));
  if (role === undefined) throw new InvalidRequest(`${path}.role`, "system, user, assistant or tool is expected.");
  const { content } = item;
  // An assistant turn that only called tools has no content.
  if ((content === null || content === undefined) && role === "assistant" && Array.isArray(item["tool_calls"])) {
    return { role, text: "", images: [] };
  }
  if (typeof content === "string") return { role, text: content, images: [] };
  const parts = objects(item, "content", `${path}.content`);
  const images: Image[] = [];
  return { role, text: parts.map(partText(reading, images)).join(""), images };
}

const partText =
  ({ takesAnyPart, takesImages }: Reading, images: Image[]) =>
  (part: Record<string, unknown>, index: number) => {
    if (part["type"] === "text" && typeof part["text"] === "string") return part["text"];
    if (takesAnyPart) return "";
    if (takesImages && part["type"] === "image_url") {
      images.push(readChatImage(part, `content[${index}]`));
      return "";
    }
    throw new InvalidRequest(`content[${index}]`, "this model takes text parts only.");
  };

function readFormat(format: unknown): InferenceRequest["format"] {
  switch (member(format, "type")) {
    case "json_schema":
      return { schema: member(member(format, "json_schema"), "schema") };
    case "json_object":
      return { schema: undefined };
    default:
      return undefined;
  }
}

function readTool(item: Record<string, unknown>, index: number): Tool {
  const described = item["function"];
  const name = member(described, "name");
  if (typeof name !== "string" || name === "") {
    throw new InvalidRequest(`tools[${index}].function.name`, "a non-empty string is required.");
  }
  return { name, schema: member(described, "parameters") };
}
