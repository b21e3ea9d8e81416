import type { ResponseFacts } from "../../src/record/index.ts";

/** A response in short: `429 rate_limit_exceeded`, `200, then reset`, `no response (deadline)`. */
export function describeResponse({ status, reason, readAs, ending, isRefusedLate }: ResponseFacts): string {
  const end = ending === undefined ? "" : `${ending.kind}${ending.detail === undefined ? "" : `: ${ending.detail}`}`;
  if (status === undefined) return `no response (${end})`;
  const translated = readAs === undefined ? "" : ` (read as ${readAs ?? "no known reason"})`;
  const named = `${status}${reason === undefined ? "" : ` ${reason}`}${translated}`;
  if (end !== "") return `${named}, then ${end}`;
  return isRefusedLate === true ? `${named}, then an error event` : named;
}
