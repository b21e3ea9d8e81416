import { InvalidRequest } from "./invalid-request.ts";
import type { Image } from "./read-image.ts";

export interface Turn {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** All text of the turn, joined. */
  readonly text: string;
  readonly images: readonly Image[];
}

export interface Tool {
  readonly name: string;
  /** JSON Schema of the arguments; unvalidated, because the caller wrote it. */
  readonly schema: unknown;
}

/** The tool that the caller demands, by its name. @throws InvalidRequest if it is not among those given. */
export function selectTool(tools: readonly Tool[], name: unknown): readonly Tool[] {
  const own = tools.filter((tool) => tool.name === name);
  if (own.length === 0) throw new InvalidRequest("tool_choice", "the name of one of the tools is expected.");
  return own;
}

/** How bodies are read. */
export interface Reading {
  /** Images and other parts are passed on to a provider. */
  readonly takesAnyPart: boolean;
  /** The simulated model reads images. */
  readonly takesImages: boolean;
}

/** What a caller requests, independent of the dialect. */
export interface InferenceRequest {
  readonly modelId: string;
  readonly turns: readonly Turn[];
  /** The system prompt: top-level in the messages dialect, the system-role items in the chat dialect. */
  readonly system: string | undefined;
  /** Maximum number of output tokens; whole number, 1 or more. */
  readonly maxTokens: number | undefined;
  readonly stream: boolean;
  /** Chat dialect: the caller requested usage at the end of the stream. */
  readonly includeUsage: boolean;
  /** The tools that the model may call: none, or only one of those given, if the caller says so. */
  readonly tools: readonly Tool[];
  /** False when the caller forbids more than one call in a turn. */
  readonly parallelTools: boolean;
  /** The reply has to be JSON of this schema; absent: no format was requested. */
  readonly format: { readonly schema: unknown } | undefined;
}

/** A user turn that only has text. */
export function userTurn(text: string): Turn {
  return { role: "user", text, images: [] };
}

/** The text of the last user turn; without one, of the last turn. */
export function lastUserText(request: InferenceRequest): string {
  for (let at = request.turns.length - 1; at >= 0; at -= 1) {
    const turn = request.turns[at];
    if (turn?.role === "user") return turn.text;
  }
  return request.turns.at(-1)?.text ?? "";
}
