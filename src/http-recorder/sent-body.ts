import type { RecordedRequest } from "./exchange.ts";

/** Bytes of a request body that are kept: we know what we sent, and one of 16 MB takes more than all the others. */
const MOST_SENT = 256 * 1024;

/** A request body as it is recorded: a large one in its beginning. */
export function sentBody(
  body: string | Uint8Array | undefined,
): Pick<RecordedRequest, "body" | "bodyBytes" | "truncated"> {
  if (body === undefined) return { body, bodyBytes: 0 };
  const bodyBytes = Buffer.byteLength(body);
  if (typeof body === "string" && bodyBytes <= MOST_SENT) return { body, bodyBytes };
  // By way of bytes: a part of a text holds on to the whole.
  const bytes = Buffer.from(typeof body === "string" ? body.slice(0, MOST_SENT) : body.subarray(0, MOST_SENT));
  const text = bytes.subarray(0, MOST_SENT).toString("utf8");
  return { body: text, bodyBytes, ...(bodyBytes > MOST_SENT ? { truncated: true as const } : {}) };
}
