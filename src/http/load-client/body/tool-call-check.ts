import { isObject } from "../../../core/index.ts";
import {
  type CalledTool,
  type Dialect,
  eventsIn,
  parseJson,
  readEvent,
  readReply,
  StreamedCalls,
} from "../../../dialects/index.ts";

/** The tools of a request by name; each function checks whether arguments, a JSON object, match the tool's schema. */
export type OfferedTools = ReadonlyMap<string, (input: Readonly<Record<string, unknown>>) => boolean>;

/** What a client finds when it reads a tool call. */
export const TOOL_CALL_KINDS = ["valid", "invalidJson", "unknownName", "schemaMismatch"] as const;
export type ToolCallKind = (typeof TOOL_CALL_KINDS)[number];

/** The tool calls of a reply by kind; the one that the output limit cut off is none of them. */
export type ToolCallCounts = Readonly<Record<ToolCallKind | "cutOff", number>>;

/** Finish reasons of a reply that the output limit cut off. */
const CUT_OFF = ["length", "max_tokens"];

/** Counts the calls of a stream. */
export function countStreamed(streamed: StreamedCalls, tools: OfferedTools): ToolCallCounts {
  return countCalls(streamed.calls, streamed.finishReason, tools);
}

/** Counts the calls of a whole body. @param dialect of a non-streaming reply; absent for a stream, which had a content coding. */
export function countInBody(text: string, dialect: Dialect | undefined, tools: OfferedTools): ToolCallCounts {
  const streamed = new StreamedCalls();
  if (dialect !== undefined) {
    const json = parseJson(text);
    streamed.add(json);
    return countCalls(readReply(dialect, json).toolCalls, streamed.finishReason, tools);
  }
  for (const { block } of eventsIn(text)) {
    const { data } = readEvent(block);
    if (data !== undefined) streamed.add(parseJson(data));
  }
  return countStreamed(streamed, tools);
}

function countCalls(calls: readonly CalledTool[], finish: string | undefined, tools: OfferedTools): ToolCallCounts {
  const counts = { valid: 0, invalidJson: 0, unknownName: 0, schemaMismatch: 0, cutOff: 0 };
  for (const [index, call] of calls.entries()) {
    const kind = kindOf(call, tools);
    const isCutOff = kind === "invalidJson" && index === calls.length - 1 && CUT_OFF.includes(finish ?? "");
    counts[isCutOff ? "cutOff" : kind]++;
  }
  return counts;
}

function kindOf({ name, input }: CalledTool, tools: OfferedTools): ToolCallKind {
  if (input === undefined) return "invalidJson";
  const isMatch = typeof name === "string" ? tools.get(name) : undefined;
  if (isMatch === undefined) return "unknownName";
  return isObject(input) && isMatch(input) ? "valid" : "schemaMismatch";
}
