import { PNG_SIGNATURE, pngOf } from "../../core/index.ts";
import { type Dialect, imagePart } from "../../dialects/index.ts";
import type { OfferedTools } from "../../http/load-client/index.ts";

/** Images in a request; `bytes` is the size of each, before base64. */
export interface Images {
  readonly count: number;
  readonly bytes: number;
}

export interface Content {
  readonly prompt: string;
  readonly images?: Images | undefined;
  /** Number of tool calls in the conversation, each with its result. */
  readonly toolCalls?: number | undefined;
}

const TOOL = "read_file";
const ABOUT_TOOL = "Reads a file of the project.";
const PARAMETERS = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };

/** Body fields for images and tool calls: `messages` to replace the plain ones, and the tool; empty if there are neither. */
export function contentOf(dialect: Dialect, { prompt, images, toolCalls = 0 }: Content): Record<string, unknown> {
  if (images === undefined && toolCalls === 0) return {};
  const parts = images === undefined ? prompt : [...imageParts(dialect, images), { type: "text", text: prompt }];
  const calls = Array.from({ length: toolCalls }, (_, index) => index);
  const earlier =
    toolCalls === 0 ? [] : [{ role: "user", content: "Read the files." }, ...calls.flatMap(TOOL_CALL[dialect])];
  return {
    // Both the result and the next prompt are user turns: roles must alternate in the messages dialect.
    messages:
      dialect === "messages"
        ? joined([...earlier, { role: "user", content: parts }])
        : [...earlier, { role: "user", content: parts }],
    ...(toolCalls === 0 ? {} : { tools: [TOOL_OF[dialect]] }),
  };
}

const TOOL_OF = {
  chat: { type: "function", function: { name: TOOL, description: ABOUT_TOOL, parameters: PARAMETERS } },
  messages: { name: TOOL, description: ABOUT_TOOL, input_schema: PARAMETERS },
} satisfies Record<Dialect, object>;

/** The tools of a request with tool calls. The check of the arguments is what the tool's schema says. */
export const OFFERED_TOOLS: OfferedTools = new Map([[TOOL, ({ path }) => typeof path === "string"]]);

interface Message {
  readonly role: string;
  readonly content: unknown;
}

const TOOL_CALL: Readonly<Record<Dialect, (index: number) => Message[]>> = {
  chat: (index) => {
    const id = `call_${index}`;
    const called = { name: TOOL, arguments: JSON.stringify({ path: `src/file-${index}.ts` }) };
    return [
      { role: "assistant", content: null, ...{ tool_calls: [{ id, type: "function", function: called }] } },
      { role: "tool", ...{ tool_call_id: id }, content: `export const value = ${index};` },
    ];
  },
  messages: (index) => {
    const id = `toolu_${index}`;
    return [
      { role: "assistant", content: [{ type: "tool_use", id, name: TOOL, input: { path: `src/file-${index}.ts` } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: `export const value = ${index};` }] },
    ];
  },
};

/** Merges consecutive messages of the same role. */
function joined(messages: readonly Message[]): Message[] {
  const blocks = (content: unknown) =>
    Array.isArray(content) ? (content as unknown[]) : [{ type: "text", text: content }];
  const all: Message[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    if (last?.role !== message.role) all.push(message);
    else all.splice(-1, 1, { role: last.role, content: [...blocks(last.content), ...blocks(message.content)] });
  }
  return all;
}

function imageParts(dialect: Dialect, { count, bytes }: Images): object[] {
  const part = imagePart(dialect, onePixel(bytes).toString("base64"));
  return Array.from({ length: count }, () => part);
}

/** One grey pixel: width, height, 8 bits, grey. */
const HEADER = Buffer.from("00000001000000010800000000", "hex");
/** The pixel, deflated. */
const PIXEL = Buffer.from("789c6360000000020001", "hex");
const CHUNK_FRAME = 12;
const COMMENT = "Comment\0";
/** Minimum size that `onePixel` can create, bytes. */
export const MIN_IMAGE_BYTES = PNG_SIGNATURE.length + HEADER.length + PIXEL.length + COMMENT.length + 4 * CHUNK_FRAME;

/** A valid image of one pixel, with a comment that pads it to this size. */
function onePixel(bytes: number): Buffer {
  const comment = COMMENT + "x".repeat(bytes - MIN_IMAGE_BYTES);
  return pngOf([
    ["IHDR", HEADER],
    ["tEXt", Buffer.from(comment, "latin1")],
    ["IDAT", PIXEL],
  ]);
}
