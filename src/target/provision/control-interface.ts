import { isObject, messageOf } from "../../core/index.ts";
import type { Key } from "../key.ts";

/** JSON over HTTP with a bearer token: the admin interface of the reference gateway, the control interface of an upstream. */
export interface ControlInterface {
  readonly url: string;
  readonly token: Key;
  /** Creates the error for a failure. */
  readonly failure: (what: string, cause?: unknown) => Error;
}

const MAX_MS = 30_000;

/**
 * Calls the interface. @returns the JSON object in its response. @throws the error that `failure` creates for a rejection, or
 * for no response.
 */
export async function callControl(
  { url, token, failure }: ControlInterface,
  method: "GET" | "PATCH" | "POST" | "PUT",
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  // Loaded on first use: commands that create no states should not wait for it.
  const { request } = await import("undici");
  let status: number;
  let json: unknown;
  try {
    const response = await request(url + path, {
      method,
      headers: { authorization: `Bearer ${token.reveal()}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(MAX_MS),
    });
    status = response.statusCode;
    json = await response.body.json();
  } catch (cause) {
    throw failure(`no response to ${method} ${path}: ${messageOf(cause)}`, cause);
  }
  if (status >= 300 || !isObject(json)) throw failure(`${method} ${path} was refused: ${status}`);
  return json;
}
