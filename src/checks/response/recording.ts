import { isObject, type JsonValue } from "../../core/index.ts";
import { Response } from "./response.ts";

/** What a probe may return: responses and plain facts, in objects and lists. */
export type Recordable =
  | Response
  | null
  | undefined
  | boolean
  | number
  | string
  | readonly Recordable[]
  | { readonly [name: string]: Recordable };

/** A response in a stored recording; the exchange holds the rest. */
const REFERENCE = "$answer";

/** Turns a recording into JSON in which responses are references to their exchanges. */
export function freeze(recording: Recordable): JsonValue {
  if (recording instanceof Response) return { [REFERENCE]: recording.id };
  if (recording === undefined) return null;
  if (Array.isArray(recording)) return recording.map(freeze);
  if (!isObject(recording)) return recording as JsonValue;
  return Object.fromEntries(
    Object.entries(recording)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, freeze(value as Recordable)]),
  );
}

/** Undoes {@link freeze}. */
export function thaw(stored: JsonValue, responseOf: (id: string) => Response): Recordable {
  if (Array.isArray(stored)) return stored.map((item) => thaw(item, responseOf));
  if (!isObject(stored)) return stored as Recordable;
  const reference = stored[REFERENCE];
  if (typeof reference === "string") return responseOf(reference);
  return Object.fromEntries(
    Object.entries(stored).map(([name, value]) => [name, thaw(value as JsonValue, responseOf)]),
  );
}

/** Every response in a recording, in order. */
export function responsesIn(recording: Recordable): Response[] {
  if (recording instanceof Response) return [recording];
  if (Array.isArray(recording)) return recording.flatMap(responsesIn);
  return isObject(recording) ? Object.values(recording).flatMap((value) => responsesIn(value as Recordable)) : [];
}
