import { isObject, member } from "../core/index.ts";
import { parseJson } from "./json-values.ts";

/** An error body of any shape. Status and reason header decide (7.P1, 7.P2); this is for people and for shape checks. */
export interface ErrorReading {
  /** Where the error object was found; `none` if the body is something else. */
  readonly envelope: "chat" | "messages" | "flat" | "none";
  readonly message: unknown;
  readonly type: unknown;
  readonly code: unknown;
}

/**
 * Reads an error body. Tolerates HTML, empty, plain text, arrays and nesting (ERR-BODY-5).
 *
 * `chat`: `{ error: { … } }`. `messages`: `{ type: "error", error: { … } }`. `flat`: the fields are at the top level.
 */
export function readError(body: string): ErrorReading {
  const json = parseJson(body);
  const error = member(json, "error");
  if (isObject(error)) {
    const envelope = member(json, "type") === "error" ? "messages" : "chat";
    return { envelope, message: member(error, "message"), type: member(error, "type"), code: member(error, "code") };
  }
  if (typeof error === "string" || typeof member(json, "message") === "string") {
    const message = typeof error === "string" ? error : member(json, "message");
    return { envelope: "flat", message, type: member(json, "type"), code: member(json, "code") };
  }
  return { envelope: "none", message: undefined, type: undefined, code: undefined };
}
