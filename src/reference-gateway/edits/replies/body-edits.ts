import { isObject } from "../../../core/index.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import type { Refusal } from "../../pipeline/refusal.ts";
import { refusal } from "../../pipeline/refusal.ts";
import type { When } from "../when.ts";
import { type Apply, onDenial, wrap } from "../wrap.ts";
import { insteadOf } from "./response-edits.ts";

type Body = Record<string, unknown>;

/** Reads the body as if it were another one, so that requests that should be refused are served. */
export function readAs(when: When, rewrite: (body: Body, call: Call) => Body): Apply {
  return wrap("readRequest", (next) => (call) => {
    if (call.bodyError === undefined && isObject(call.parsed) && when(call)) call.parsed = rewrite(call.parsed, call);
    return next(call);
  });
}

/** Refuses a valid body. */
export function refuseBody(when: When, refused: Partial<Omit<Refusal, "reason">> = {}): Apply {
  return wrap("readRequest", (next) => (call) => {
    const request = next(call);
    return "reason" in request || !when(call) ? request : refusal("invalid_request", refused);
  });
}

/** Turns the refusal of a bad body into an internal error. */
export function badBodyIs500(when: When): Apply {
  return onDenial("invalid_request", when, insteadOf("internal_error"));
}

const bodyOf = ({ parsed }: Call): Body => (isObject(parsed) ? parsed : {});

/** The body is an object without this field. */
export const lacks =
  (name: string): When =>
  (call) =>
    isObject(call.parsed) && bodyOf(call)[name] === undefined;

/** The body has this field, and its value matches. */
export const has =
  (name: string, such: (value: unknown) => boolean): When =>
  (call) =>
    name in bodyOf(call) && such(bodyOf(call)[name]);
