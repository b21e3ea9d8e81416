import type { Expected, ResponseFacts, UndecidedReason } from "../record/index.ts";
import type { RequirementId } from "../requirements/index.ts";

/** The parts of a response that are evidence. */
export interface EvidenceResponse {
  readonly id: string;
  /** A stream that began with 2xx and held an error instead of output: the refusal was too late to have a status. */
  readonly refusedLate?: boolean;
  /** The response in short. */
  readonly facts?: ResponseFacts;
  readonly exchange?: {
    readonly response: object | undefined;
    readonly ending: { readonly kind: string; readonly detail?: string };
  };
}

/** Requirements on the content of a response. Without a response they are neither met nor violated. */
const ABOUT_CONTENT: ReadonlySet<string> = new Set<RequirementId>([
  ...(["HTTP-HEAD", "HTTP-CODING", "HTTP-ACCEPT-ENCODING", "HTTP-ALLOW", "JSON-UTF8", "JSON-TEXT"] as const),
  ...(["SEC-3", "NO-SECRETS", "OWN-ANSWER", "TEXT-INTACT", "COUNTS-ADD-UP"] as const),
  ...(["CHAT-2", "CHAT-3", "MSG-2", "MSG-3", "STREAM-4", "ERR-200-1"] as const),
  ...(["COMPAT-FRAMING", "COMPAT-CONTENT-TYPE", "COMPAT-REPLY-ID", "COMPAT-REPLY-MODEL", "COMPAT-REQUEST-ID"] as const),
]);

/**
 * Whether a comparison expects any refusal, and a stream was refused too late to have its status. REFUSED-IN-TIME covers that,
 * once for the whole run; a denial or failure whose status the specification names needs that status.
 */
export function isRefusedLate(
  { refusedLate = false }: EvidenceResponse,
  { at, test }: { readonly at: string | undefined; readonly test: (status: never) => boolean },
): boolean {
  return refusedLate && at === "status" && test(CALLERS_FAULT as never);
}

/** The specification leaves the status open only for refusals of invalid requests; a failure has to be a 5xx. */
const CALLERS_FAULT: unknown = 422;

/**
 * Places that show whether there was a complete response. Every other place is a part of the response: a header or a JSON
 * pointer.
 */
const ARRIVAL: readonly string[] = ["status", "ending"];

/** What a judge compares. */
interface Comparison {
  readonly requirement: string;
  /** `status`, `ending`, a header name, or a JSON pointer. */
  readonly at: string | undefined;
  readonly expected: Expected;
  readonly isMet: boolean;
}

/**
 * Why a comparison decides nothing: it is about the content of a response that never arrived, or about a part that was not
 * recorded because of the size limit. Requirements on whether a response arrives, or on its status, are judged anyway.
 */
export function missingEvidence(
  { exchange }: EvidenceResponse,
  { requirement, at, expected, isMet }: Comparison,
): UndecidedReason | undefined {
  if (exchange === undefined) return undefined;
  const { kind, detail } = exchange.ending;
  const isContent = ABOUT_CONTENT.has(requirement) || (at !== undefined && !ARRIVAL.includes(at));
  // A malformed response did arrive.
  if (exchange.response === undefined && kind !== "protocol-error" && isContent)
    return { kind: "no-response", how: detail === undefined ? kind : `${kind} (${detail})` };
  const needsWhole = isContent || at === "ending" || expected.kind === "reply";
  if (kind === "size-bound" && !isMet && needsWhole)
    return { kind: "size-bound", ...(detail === undefined ? {} : { detail }) };
  return undefined;
}
