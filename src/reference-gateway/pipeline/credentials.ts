import type { Call } from "./behaviour.ts";

/** The scheme in any letter case, one or more spaces, and the token up to the end (RFC 6750, 2.1; RFC 9110, 11.1). */
const BEARER = /^bearer +([^\s,]+)$/i;

/**
 * The key of a request: from `Authorization`, which must occur once. `/messages` also accepts the dialect's `x-api-key`, but
 * only without `Authorization`. Keys in the URL are ignored.
 */
export function presentedKey(call: Call): string | undefined {
  const { headers, rawHeaders } = call.arrival;
  const { authorization } = headers;
  if (authorization === undefined) return call.endpoint === "messages" ? vendorKey(call) : undefined;
  // Node keeps the first of several; with two, the intended one is unknown.
  if (occurrences(rawHeaders, "authorization") > 1) return undefined;
  return BEARER.exec(authorization.trim())?.[1];
}

function vendorKey(call: Call): string | undefined {
  const value = call.arrival.headers["x-api-key"];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function occurrences(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const present = rawHeaders[at] as string;
    if (present.length === name.length && present.toLowerCase() === name) count += 1;
  }
  return count;
}
