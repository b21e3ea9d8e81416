import type { RequirementId } from "../requirements/index.ts";
import { aReply } from "./expectation.ts";

/** A response as far as it can be evidence. */
export interface EvidenceResponse {
  readonly id: string;
  readonly exchange?: {
    readonly response: object | undefined;
    readonly ending: { readonly kind: string; readonly detail?: string };
  };
}

/** Requirements on what a response contains: without one they are neither met nor broken, wherever the judge looks. */
const ABOUT_CONTENT: ReadonlySet<RequirementId> = new Set<RequirementId>([
  ...(["HTTP-HEAD", "HTTP-CODING", "HTTP-ACCEPT-ENCODING", "HTTP-ALLOW", "JSON-UTF8", "JSON-TEXT"] as const),
  ...(["SEC-3", "NO-SECRETS", "OWN-ANSWER", "TEXT-INTACT", "COUNTS-ADD-UP"] as const),
  ...(["CHAT-2", "CHAT-3", "MSG-2", "MSG-3", "STREAM-4", "ERR-200-1"] as const),
  ...(["COMPAT-FRAMING", "COMPAT-CONTENT-TYPE", "COMPAT-REPLY-ID", "COMPAT-REPLY-MODEL", "COMPAT-REQUEST-ID"] as const),
]);

/** Places that say whether a response came, and to its end. Every other place is a part of it: a header or a JSON pointer. */
const ARRIVAL: readonly string[] = ["status", "ending"];

/** What a judge compares. */
interface Comparison {
  readonly requirement: RequirementId;
  /** `status`, `ending`, a header name, or a JSON pointer. */
  readonly at: string | undefined;
  readonly expected: unknown;
  readonly isMet: boolean;
}

/**
 * Why a comparison decides nothing: it is about the content of a response that never came, or about the part of one that was not
 * recorded because of our bound on its size. A requirement that a response comes, or which status it has, is judged all the same.
 */
export function missingEvidence(
  { exchange }: EvidenceResponse,
  { requirement, at, expected, isMet }: Comparison,
): string | undefined {
  if (exchange === undefined) return undefined;
  const { kind, detail } = exchange.ending;
  const isContent = ABOUT_CONTENT.has(requirement) || (at !== undefined && !ARRIVAL.includes(at));
  // A malformed response is one that came.
  if (exchange.response === undefined && kind !== "protocol-error" && isContent)
    return `no response: ${kind}${detail === undefined ? "" : ` (${detail})`}`;
  const needsWhole = isContent || at === "ending" || expected === aReply;
  if (kind === "size-bound" && !isMet && needsWhole)
    return `the response is larger than Gauntlet records${detail === undefined ? "" : ` (${detail})`}`;
  return undefined;
}
