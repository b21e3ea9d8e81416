import type { IncomingHttpHeaders } from "node:http";

/**
 * True for a body labelled as JSON, or not labelled: some clients omit the label. Compressed bodies are not accepted, because a
 * few kilobytes may decompress to gigabytes.
 */
export function looksLikeJson(headers: IncomingHttpHeaders): boolean {
  const coding = headers["content-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "identity") return false;
  const type = headers["content-type"];
  if (type === undefined) return true;
  const end = type.indexOf(";");
  const media = (end < 0 ? type : type.slice(0, end)).trim().toLowerCase();
  return media === "application/json" || (media.startsWith("application/") && media.endsWith("+json"));
}
