import { member } from "../../../core/index.ts";
import type { Step, StreamEvent } from "../../pipeline/response.ts";
import { type Apply, wrap } from "../wrap.ts";
import { put } from "./json-edits.ts";

/** Where the text of an increment is, in either dialect. */
const TEXT_PATHS = ["choices.0.delta.content", "delta.text"];

/** Changes the text of a text event. */
export function editText(event: StreamEvent, change: (text: string) => string): StreamEvent {
  const apply = (value: unknown) => (typeof value === "string" ? change(value) : value);
  const path = member(event.data, "choices") === undefined ? TEXT_PATHS[1] : TEXT_PATHS[0];
  return { ...event, data: put(path ?? "", apply)(event.data) };
}

/** The text of an instant reply is one event, whatever its length. */
export const oneEventPerText: Apply = wrap("plan", (next) => (model, request, call) => {
  const plan = next(model, request, call);
  if (plan.kind !== "reply" || plan.paceMs > 0 || plan.pieces.some(({ kind }) => kind !== "text")) return plan;
  const text = plan.pieces.map((piece) => (piece.kind === "text" ? piece.text : "")).join("");
  const tokens = plan.pieces.reduce((sum, piece) => sum + piece.tokens, 0);
  return { ...plan, pieces: [{ kind: "text", text, tokens }] };
});

/** All steps at the time of the last one. */
export function allAtTheEnd(steps: readonly Step[]): Step[] {
  const atMs = steps.at(-1)?.atMs ?? 0;
  return steps.map((step) => ({ ...step, atMs }));
}

/** Holds bytes back until this many have accumulated, like a proxy's buffer. */
export function inBlocksOf(bytes: number, steps: readonly Step[]): Step[] {
  const blocks: Step[] = [];
  let held: Step[] = [];
  let size = 0;
  for (const step of steps) {
    held.push(step);
    size += Buffer.byteLength(step.bytes);
    if (size < bytes) continue;
    blocks.push(glue(held));
    held = [];
    size = 0;
  }
  if (held.length > 0) blocks.push(glue(held));
  return blocks;
}

/** Merges several steps into one, at the time of the last one. */
export function glue(steps: readonly Step[]): Step {
  return {
    atMs: steps.at(-1)?.atMs ?? 0,
    bytes: Buffer.concat(steps.map((step) => Buffer.from(step.bytes as Uint8Array))),
    tokens: steps.reduce((sum, step) => sum + step.tokens, 0),
  };
}

/** Delays everything from the n-th step on. */
export function laterFrom(index: number, byMs: number, steps: readonly Step[]): Step[] {
  return steps.map((step, at) => (at < index ? step : { ...step, atMs: step.atMs + byMs }));
}

/** Turns an edit of event data into an edit of events. */
export const changeData =
  (edit: (data: unknown) => unknown) =>
  (event: StreamEvent): StreamEvent => ({ ...event, data: edit(event.data) });
