import type { Image } from "./read-image.ts";

export interface Turn {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** Everything in the turn that is text, joined. */
  readonly text: string;
  readonly images: readonly Image[];
}

export interface Tool {
  readonly name: string;
  /** JSON Schema of the arguments; anything, because the caller wrote it. */
  readonly schema: unknown;
}

/** How bodies are read. */
export interface Reading {
  /** Images and other parts are for a provider to understand. */
  readonly takesAnyPart: boolean;
  /** The simulated model looks at images. */
  readonly takesImages: boolean;
}

/** What a caller wants generated, the same in both dialects. */
export interface InferenceRequest {
  readonly modelId: string;
  readonly turns: readonly Turn[];
  /** The system prompt: top-level in the messages dialect, the system-role items in the chat dialect. */
  readonly system: string | undefined;
  /** Most output tokens; whole number, 1 or more. */
  readonly maxTokens: number | undefined;
  readonly stream: boolean;
  /** Chat dialect: the caller asked for usage at the end of the stream. */
  readonly includeUsage: boolean;
  readonly tools: readonly Tool[];
  /** False when the caller forbids more than one call in a turn. */
  readonly parallelTools: boolean;
  /** The reply has to be JSON of this schema; absent: the caller asks for no form. */
  readonly format: { readonly schema: unknown } | undefined;
}

/** A turn of the user that is text alone. */
export function userTurn(text: string): Turn {
  return { role: "user", text, images: [] };
}

/** The text of the last turn of the user; of the last turn at all when the user has said nothing. */
export function lastUserText(request: InferenceRequest): string {
  for (let at = request.turns.length - 1; at >= 0; at -= 1) {
    const turn = request.turns[at];
    if (turn?.role === "user") return turn.text;
  }
  return request.turns.at(-1)?.text ?? "";
}
