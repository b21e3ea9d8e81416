import { isObject } from "../../core/index.ts";
import { type InferenceRequest, lastUserText } from "../pipeline/read/inference-request.ts";
import { jsonWriter } from "./capable-models.ts";
import type { Piece, Provider } from "./plan.ts";
import { objectFor } from "./schema-value.ts";
import { inputTokens, MAX_INCREMENTS, TIMING, textPlan } from "./text-plan.ts";

interface Call {
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/** Minimum number of characters per fragment of streamed arguments: short, so that a call always has several fragments. */
const FRAGMENT_LENGTH = 6;

/**
 * Calls the given tools, with arguments that are valid for their schemas: the first, and the second too if more than one call is
 * allowed. Without a tool, or when the last turn is a tool result, it replies with text, or with JSON if a format is requested.
 *
 * A prompt can direct it. A line `tool_calls: [[{"name": "a", "arguments": {}}], [...]]` lists the calls of each step: those of
 * the second step follow the results of the first, and after the last step, or for `[]`, it replies with text. "Do not use any
 * tool" in words means no call, and "both calls" or "two calls" means two calls of the only tool.
 */
export const toolCaller: Provider = (request, ...rest) => {
  const script = scriptOf(lastUserText(request));
  if (script === "malformed")
    return textPlan(request, 'tool_calls: expected steps like [[{"name": …, "arguments": {…}}]]', TIMING);
  const calls = script === undefined ? unscripted(request) : (script[stepOf(request)] ?? []);
  if (calls.length === 0) return withoutCall(request, ...rest);
  const pieces = calls.flatMap((call, index) => callPieces(request, call, index));
  return { kind: "reply", ...TIMING, pieces, stop: "tools", inputTokens: inputTokens(request) };
};

/** The result of a tool in words, or what a model without tools replies. */
const withoutCall: Provider = (request, ...rest) => {
  const last = request.turns.at(-1);
  return last?.role === "tool"
    ? textPlan(request, `The tool says: ${last.text}`, TIMING)
    : jsonWriter(request, ...rest);
};

const NO_TOOL = /\b(?:do not|don't|without) (?:use|using|call|calling) (?:any |a )?tools?\b/i;
const TWO_CALLS = /\b(?:both|two) calls\b/i;

function unscripted(request: InferenceRequest): readonly Call[] {
  const prompt = lastUserText(request);
  if (request.turns.at(-1)?.role === "tool" || NO_TOOL.test(prompt)) return [];
  const { tools } = request;
  const isRepeated = tools.length === 1 && TWO_CALLS.test(prompt);
  const called = (isRepeated ? [...tools, ...tools] : tools).slice(0, request.parallelTools ? 2 : 1);
  return called.map(({ name, schema }) => ({ name, args: objectFor(schema, prompt) }));
}

/** The calls of each step; `undefined` if the prompt has no such line. */
function scriptOf(prompt: string): readonly (readonly Call[])[] | "malformed" | undefined {
  const line = /^tool_calls:(.*)$/m.exec(prompt)?.[1];
  if (line === undefined) return undefined;
  try {
    return listOf(JSON.parse(line)).map((step) => listOf(step).map(toCall));
  } catch {
    return "malformed";
  }
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError("an array is expected");
  return value;
}

function toCall(value: unknown): Call {
  if (!isObject(value)) throw new TypeError("an object is expected");
  const { name, arguments: args = {} } = value;
  if (typeof name !== "string" || !isObject(args)) throw new TypeError("a name and arguments are expected");
  return { name, args };
}

/** How many turns of the model have followed the last prompt. */
function stepOf({ turns }: InferenceRequest): number {
  const prompt = turns.findLastIndex(({ role }) => role === "user");
  return turns.slice(prompt + 1).filter(({ role }) => role === "assistant").length;
}

function callPieces(request: InferenceRequest, { name, args }: Call, index: number): Piece[] {
  const pieces: Piece[] = [{ kind: "toolStart", id: callId(request, name, index), name, tokens: 1 }];
  const letters = [...JSON.stringify(args)];
  const length = Math.max(FRAGMENT_LENGTH, Math.ceil(letters.length / MAX_INCREMENTS));
  for (let at = 0; at < letters.length; at += length)
    pieces.push({ kind: "toolInput", fragment: letters.slice(at, at + length).join(""), tokens: 1 });
  return pieces;
}

/** Includes the number of turns: a conversation that calls a tool twice must not see the same id twice. */
function callId(request: InferenceRequest, name: string, index: number): string {
  return `call_${request.turns.length}_${index}_${Buffer.from(name).toString("hex").slice(0, 24)}`;
}
