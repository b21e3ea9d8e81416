import type { Call } from "../../pipeline/behaviour.ts";
import { type Reason, type Refusal, refusal } from "../../pipeline/refusal.ts";
import { refuse } from "../../pipeline/refuse.ts";
import type { Body, Parcel, StreamEvent } from "../../pipeline/response.ts";
import { withHeader, withoutHeader } from "../../pipeline/response.ts";
import type { ResponseEdit } from "../wrap.ts";

export const status =
  (code: number): ResponseEdit =>
  (response) => ({ ...response, status: code });

export const setHeader =
  (name: string, value: string): ResponseEdit =>
  (response) => ({ ...response, headers: withHeader(response.headers, name, value) });

export const dropHeader =
  (...names: readonly string[]): ResponseEdit =>
  (response) => ({
    ...response,
    headers: names.reduce((headers, name) => withoutHeader(headers, name), [...response.headers]),
  });

export const REASON_HEADER = "X-Service-Error-Code";
export const ACTION_HEADER = "X-Service-Action";

/** Changes the JSON value of the body. */
export const body =
  (edit: (value: unknown) => unknown): ResponseEdit =>
  (response) =>
    response.body.kind === "json"
      ? { ...response, body: { kind: "json", value: edit(response.body.value) } }
      : response;

export const text =
  (content: string, contentType: string): ResponseEdit =>
  (response) => ({ ...response, body: { kind: "text", text: content, contentType } });

export const html = (title: string): ResponseEdit =>
  text(
    `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`,
    "text/html",
  );

/** Applies several edits in order. */
export const edits =
  (...steps: readonly ResponseEdit[]): ResponseEdit =>
  (response, call) =>
    steps.reduce((edited, step) => step(edited, call), response);

/** Replaces the refusal by another kind. */
export const insteadOf =
  (reason: Reason, details: Partial<Omit<Refusal, "reason">> = {}): ResponseEdit =>
  (_response, call) =>
    refuse(refusal(reason, details), call);

/** Sends the refusal as the only item of a stream that itself looks like a success. */
export const insideStream: ResponseEdit = (response) => ({
  ...response,
  status: 200,
  headers: [],
  body: { kind: "events", events: oneEvent(response.body), ending: "finish" },
});

function oneEvent(body: Body): StreamEvent[] {
  return [{ kind: "error", atMs: 0, tokens: 0, data: body.kind === "json" ? body.value : {} }];
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

/** Replaces the bytes of a non-streaming body, with a matching length. */
export const parcelBytes =
  (edit: (bytes: Buffer, call: Call) => Buffer) =>
  (parcel: Parcel, call: Call): Parcel => {
    if (parcel.body.kind !== "whole") return parcel;
    const bytes = edit(parcel.body.bytes, call);
    const headers = withHeader(parcel.headers, "Content-Length", String(bytes.length));
    return { ...parcel, headers, body: { kind: "whole", bytes } };
  };
