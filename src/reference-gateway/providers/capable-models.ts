import { type InferenceRequest, lastUserText, type Tool } from "../pipeline/read/inference-request.ts";
import type { Piece, Provider } from "./plan.ts";
import { objectFor } from "./schema-value.ts";
import { inputTokens, textPlan } from "./text-plan.ts";

/** Milliseconds between increments: enough to observe them separately. */
const TIMING = { firstMs: 0, paceMs: 5 };

/** Lists the images it was given, one line each, and repeats the last user message. */
export const imageReader: Provider = (request) => {
  const images = request.turns.flatMap(({ images: own }) => own);
  const lines = images.map(({ mediaType, bodyBytes }, index) =>
    mediaType === undefined
      ? `image ${index + 1}: by its address`
      : `image ${index + 1}: ${mediaType}, ${bodyBytes} bytes`,
  );
  return textPlan(request, [...lines, lastUserText(request)].join("\n"), TIMING);
};

/** Replies with JSON of the requested schema; without one it repeats the last user message. */
export const jsonWriter: Provider = (request) => {
  const prompt = lastUserText(request);
  const { format } = request;
  return textPlan(request, format === undefined ? prompt : JSON.stringify(objectFor(format.schema, prompt)), TIMING);
};

/** Characters per fragment of streamed arguments: short, so that a call always has several fragments. */
const FRAGMENT_LENGTH = 6;

/**
 * Calls the given tools: the first, and the second too if more than one call is allowed. Replies with text without a tool, or
 * when the last turn is a tool result.
 */
export const toolCaller: Provider = (request) => {
  const last = request.turns.at(-1);
  if (last?.role === "tool") return textPlan(request, `The tool says: ${last.text}`, TIMING);
  const called = request.tools.slice(0, request.parallelTools ? 2 : 1);
  if (called.length === 0) return textPlan(request, lastUserText(request), TIMING);
  const pieces = called.flatMap((tool, index) => callPieces(request, tool, index));
  return { kind: "reply", ...TIMING, pieces, stop: "tools", inputTokens: inputTokens(request) };
};

function callPieces(request: InferenceRequest, tool: Tool, index: number): Piece[] {
  const pieces: Piece[] = [{ kind: "toolStart", id: callId(request, tool.name, index), name: tool.name, tokens: 1 }];
  const json = JSON.stringify(objectFor(tool.schema, lastUserText(request)));
  const letters = [...json];
  for (let at = 0; at < letters.length; at += FRAGMENT_LENGTH) {
    pieces.push({ kind: "toolInput", fragment: letters.slice(at, at + FRAGMENT_LENGTH).join(""), tokens: 1 });
  }
  return pieces;
}

/** Includes the number of turns: a conversation that calls a tool twice must not see the same id twice. */
function callId(request: InferenceRequest, name: string, index: number): string {
  return `call_${request.turns.length}_${index}_${Buffer.from(name).toString("hex").slice(0, 24)}`;
}
