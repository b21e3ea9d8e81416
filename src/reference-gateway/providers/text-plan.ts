import type { InferenceRequest } from "../pipeline/read/inference-request.ts";
import type { Piece, ReplyPlan } from "./plan.ts";
import { countPieces, splitPieces } from "./text-pieces.ts";

/** Maximum number of increments in a reply: longer texts have larger pieces, because an event costs more than its text. */
export const MAX_INCREMENTS = 256;

/** Of models with a special ability: enough time between increments to observe them separately. */
export const TIMING: Timing = { firstMs: 0, paceMs: 5 };

interface Timing {
  readonly firstMs: number;
  readonly paceMs: number;
}

/** A plan that replies with `text`, up to the request's limit on output tokens. */
export function textPlan(request: InferenceRequest, text: string, { firstMs, paceMs }: Timing): ReplyPlan {
  const all = splitPieces(text);
  const cut = request.maxTokens !== undefined && all.length > request.maxTokens;
  const tokens = cut ? all.slice(0, request.maxTokens) : all;
  return {
    kind: "reply",
    firstMs,
    paceMs,
    pieces: gather(tokens),
    stop: cut ? "length" : "stop",
    inputTokens: inputTokens(request),
  };
}

function gather(tokens: readonly string[]): Piece[] {
  const perPiece = Math.max(1, Math.ceil(tokens.length / MAX_INCREMENTS));
  const pieces: Piece[] = [];
  for (let at = 0; at < tokens.length; at += perPiece) {
    const group = tokens.slice(at, at + perPiece);
    pieces.push({ kind: "text", text: group.join(""), tokens: group.length });
  }
  return pieces;
}

/** Tokens that an image counts as, whatever its size. */
const IMAGE_TOKENS = 85;

/** Tokens of the whole input of the model: system prompt, turns, images, tools. */
export function inputTokens(request: InferenceRequest): number {
  let tokens = request.system === undefined ? 0 : countPieces(request.system);
  for (const turn of request.turns) tokens += countPieces(turn.text) + 1 + turn.images.length * IMAGE_TOKENS;
  return tokens + request.tools.length * 8;
}
