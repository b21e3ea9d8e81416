import type { Answer, Body, Parcel, StreamEvent } from "../pipeline/answer.ts";
import { withHeader, withoutHeader } from "../pipeline/answer.ts";
import type { Call } from "../pipeline/behaviour.ts";
import { type Reason, type Refusal, refusal } from "../pipeline/refusal.ts";
import { refuse } from "../pipeline/refuse.ts";

type AnswerEdit = (answer: Answer, call: Call) => Answer;

export const status =
  (code: number): AnswerEdit =>
  (answer) => ({ ...answer, status: code });

export const setHeader =
  (name: string, value: string): AnswerEdit =>
  (answer) => ({ ...answer, headers: withHeader(answer.headers, name, value) });

export const dropHeader =
  (...names: readonly string[]): AnswerEdit =>
  (answer) => ({
    ...answer,
    headers: names.reduce((headers, name) => withoutHeader(headers, name), [...answer.headers]),
  });

export const REASON_HEADER = "X-Service-Error-Code";
export const ACTION_HEADER = "X-Service-Action";

/** Changes the JSON value of the body. */
export const body =
  (edit: (value: unknown) => unknown): AnswerEdit =>
  (answer) =>
    answer.body.kind === "json" ? { ...answer, body: { kind: "json", value: edit(answer.body.value) } } : answer;

export const text =
  (content: string, contentType: string): AnswerEdit =>
  (answer) => ({ ...answer, body: { kind: "text", text: content, contentType } });

export const html = (title: string): AnswerEdit =>
  text(
    `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`,
    "text/html",
  );

/** Several edits, one after the other. */
export const edits =
  (...steps: readonly AnswerEdit[]): AnswerEdit =>
  (answer, call) =>
    steps.reduce((edited, step) => step(edited, call), answer);

/** A refusal of another kind in its place. */
export const insteadOf =
  (reason: Reason, details: Partial<Omit<Refusal, "reason">> = {}): AnswerEdit =>
  (_answer, call) =>
    refuse(refusal(reason, details), call);

/** The refusal as the one item of a stream that itself looks like a success. */
export const insideStream: AnswerEdit = (answer) => ({
  ...answer,
  status: 200,
  headers: [],
  body: { kind: "events", events: oneEvent(answer.body), ending: "finish" },
});

function oneEvent(told: Body): StreamEvent[] {
  return [{ kind: "error", atMs: 0, tokens: 0, data: told.kind === "json" ? told.value : {} }];
}

export const parcelHeader =
  (name: string, value: string) =>
  (parcel: Parcel): Parcel => ({ ...parcel, headers: withHeader(parcel.headers, name, value) });

export const parcelWithout =
  (...names: readonly string[]) =>
  (parcel: Parcel): Parcel => ({
    ...parcel,
    headers: names.reduce((headers, name) => withoutHeader(headers, name), [...parcel.headers]),
  });

/** Other bytes for a whole body, with a length that fits them. */
export const parcelBytes =
  (edit: (bytes: Buffer, call: Call) => Buffer) =>
  (parcel: Parcel, call: Call): Parcel => {
    if (parcel.body.kind !== "whole") return parcel;
    const bytes = edit(parcel.body.bytes, call);
    const headers = withHeader(parcel.headers, "Content-Length", String(bytes.length));
    return { ...parcel, headers, body: { kind: "whole", bytes } };
  };
