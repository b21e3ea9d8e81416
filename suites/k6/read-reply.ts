import type { RefinedResponse } from "k6/http";
import { findDenial } from "./denial-reading.ts";
import type { Plan, PlannedRequest } from "./plan.ts";
import { checkReply, checkStream } from "./reply-defect.ts";
import { retryAfterWaitMs } from "./retry-after.ts";
import { LIMIT_REASONS, type Retry, retryOf } from "./retry-rules.ts";

export interface Reply {
  readonly outcome: "admitted" | "denied" | "failed" | "invalid" | "unfinished";
  /** The named reason of a denial, the kind of failure, or what makes a 2xx reply invalid. */
  readonly what: string;
  readonly reason: string;
  readonly retry: Retry;
  readonly retryAfter: string;
  readonly retryAfterMs: number | undefined;
  readonly date: string;
  readonly requestId: string;
  /** From `usage`; 0 where there is none. */
  readonly tokens: number;
  /** `crossed`: the response contains the text of another request. */
  readonly flaw: "" | "crossed";
}

/** k6's codes for failures: above 1399 they only repeat the status. */
const OF_STATUS = 1_400;
const TIMEOUT = 1_050;
const DIAL = [1_200, 1_210, 1_211, 1_212, 1_213];
const NONCE = /gx[0-9a-f]+n[0-9a-z]+z/g;

type Response = RefinedResponse<"text">;

/** Classifies a response by its status, its named reason and, for a 2xx, its body. A truncated reply is `unfinished`. */
export function readReply(response: Response, request: PlannedRequest, plan: Plan, nonce: string): Reply {
  const { status, error_code: code } = response;
  const complete = code === 0 || code >= OF_STATUS;
  const timedOut = code === TIMEOUT;
  const reason = status >= 300 ? reasonOf(response, plan) : "";
  const date = headerOf(response, "date");
  const retryAfter = headerOf(response, "retry-after");
  const body = response.body ?? "";
  return {
    ...outcomeOf(response, request, reason, complete, timedOut, body),
    reason,
    retry: retryOf(status, reason, complete, timedOut),
    retryAfter,
    retryAfterMs: retryAfter === "" ? undefined : retryAfterWaitMs(retryAfter, { date, arrivedAtMs: Date.now() }),
    date,
    requestId: headerOf(response, "x-request-id"),
    tokens: tokensOf(body),
    flaw: complete && status === 200 ? flawOf(body, nonce) : "",
  };
}

function outcomeOf(
  { status, error_code: code, timings }: Response,
  { dialect, stream, usageRequested = false }: PlannedRequest,
  reason: string,
  complete: boolean,
  timedOut: boolean,
  body: string,
): Pick<Reply, "outcome" | "what"> {
  const served = status >= 200 && status < 300;
  if (served && complete) {
    const checked = stream ? checkStream(dialect, body, usageRequested) : checkReply(dialect, body);
    if (checked.defect !== undefined) return { outcome: "invalid", what: checked.defect };
    const hasError = "error" in checked && checked.error;
    return hasError ? { outcome: "unfinished", what: "error in the stream" } : { outcome: "admitted", what: "" };
  }
  // k6 drops the status of a truncated response; that it had begun shows in its bytes. It counts as admitted: refusals are short
  // and arrive complete.
  const begun = served || (status === 0 && !complete && (body !== "" || timings.receiving > 0));
  if (begun && stream) return { outcome: "unfinished", what: timedOut ? "deadline" : "cut stream" };
  if (begun) return failed(timedOut ? "deadline" : "cut reply");
  if (!complete) return failed(timedOut ? "deadline" : DIAL.includes(code) ? "unreachable" : "reset");
  if (LIMIT_REASONS.includes(reason)) return { outcome: "denied", what: reason };
  if (status >= 400 && status < 500) return { outcome: "denied", what: reason === "" ? `${status}` : reason };
  return failed(`${status}`);
}

const failed = (what: string): Pick<Reply, "outcome" | "what"> => ({ outcome: "failed", what });

function headerOf({ headers }: Response, name: string): string {
  for (const [own, value] of Object.entries(headers)) if (own.toLowerCase() === name.toLowerCase()) return value;
  return "";
}

function reasonOf(response: Response, plan: Plan): string {
  const { reasonHeader, reasonPointer, denials } = plan;
  const { status, body } = response;
  const code = reasonPointer === null ? headerOf(response, reasonHeader) : atPointer(body, reasonPointer);
  return findDenial(denials, { status, code, body: () => body ?? "" })?.reason ?? code;
}

function atPointer(body: string | null, pointer: string): string {
  const steps = pointer.split("/").slice(1);
  try {
    const value = steps.reduce<unknown>(
      (inner, step) => (inner as Record<string, unknown>)[step.replaceAll("~1", "/").replaceAll("~0", "~")],
      JSON.parse(body ?? ""),
    );
    return typeof value === "string" ? value : "";
  } catch {
    // Not JSON, or nothing at that pointer: the reason is simply not named.
    return "";
  }
}

function tokensOf(body: string): number {
  const counts = [...body.matchAll(/"(?:completion_tokens|output_tokens)"\s*:\s*(\d+)/g)];
  return Number(counts[counts.length - 1]?.[1] ?? 0);
}

function flawOf(body: string, nonce: string): Reply["flaw"] {
  return nonce !== "" && (body.match(NONCE) ?? []).some((found) => found !== nonce) ? "crossed" : "";
}
