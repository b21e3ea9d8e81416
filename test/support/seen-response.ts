import { instancesOf, type Recordable, type RequestInfo, Response } from "../../src/checks/index.ts";
import { judge } from "../../src/checks/runner/judge.ts";
import { CHECKS } from "../../suites/index.ts";

const RULES = { reasonHeader: "X-Service-Error-Code", actionHeader: "X-Service-Action" };

export interface Times {
  readonly sentMs: number;
  readonly endMs: number;
  /** When the body began; default: at the end. */
  readonly beganMs?: number;
  readonly status?: number;
  readonly reason?: string;
  readonly ownLagMs?: number;
  /** Default: a reply, or an empty object if the status is not a success. */
  readonly text?: string;
  /** On the wall clock. */
  readonly startedAtMs?: number;
  /** Default: chat. */
  readonly endpoint?: "chat" | "messages" | "models";
  readonly mode?: "streaming" | "non-streaming";
  /** Body of the request; default: an empty object. */
  readonly sent?: string;
  /** Default: `any`. */
  readonly intent?: RequestInfo["intent"];
  readonly nonce?: string;
  /** `true`: the connection was reset in the middle of the body. */
  readonly isCut?: boolean;
  /** `false`: the connection was reset before anything arrived. */
  readonly hasResponse?: boolean;
}

let count = 0;

function replyOf(endpoint: Times["endpoint"], mode: Times["mode"]): string {
  if (endpoint === "models") return "{}";
  const chat = (part: string, more: object) => ({ choices: [{ index: 0, [part]: { content: "ok" }, ...more }] });
  if (mode === "streaming" && endpoint === "chat")
    return `data: ${JSON.stringify(chat("delta", { finish_reason: "stop" }))}\n\ndata: [DONE]\n\n`;
  return JSON.stringify(
    endpoint === "messages"
      ? { type: "message", role: "assistant", content: [{ type: "text", text: "ok" }], stop_reason: "end_turn" }
      : chat("message", { finish_reason: "stop" }),
  );
}

/** A response that arrived completely at one moment. */
export function seen({
  sentMs,
  endMs,
  beganMs = endMs,
  status = 200,
  reason,
  ownLagMs = 0,
  startedAtMs = 0,
  endpoint = "chat",
  mode = "non-streaming",
  sent = "{}",
  intent = "any",
  nonce,
  isCut = false,
  hasResponse = true,
  text = status === 200 ? replyOf(endpoint, mode) : "{}",
}: Times): Response {
  const [sentUs, endUs] = [sentMs * 1_000, endMs * 1_000];
  return new Response(
    {
      id: `x${++count}`,
      startedAtMs,
      request: {
        method: "POST",
        url: `http://127.0.0.1/v1/${endpoint === "models" ? "models" : "chat/completions"}`,
        headers: [],
        body: sent,
        bodyBytes: sent.length,
      },
      key: "valid",
      connection: { id: "c1", earlier: 0 },
      timeline: { dueUs: sentUs, sentUs, firstByteUs: endUs, headersUs: endUs, endUs },
      response: !hasResponse
        ? undefined
        : {
            status,
            headers: reason === undefined ? [] : [["X-Service-Error-Code", reason]],
            interim: [],
            trailers: [],
            body: {
              text,
              base64: undefined,
              bytes: text.length,
              receivedBytes: text.length,
              pieces: [[beganMs * 1_000, text.length]],
              decodeError: undefined,
            },
          },
      ending: { kind: hasResponse && !isCut ? "complete" : "reset" },
      ownLagMs,
      afterwards: undefined,
      redactions: [],
    } as unknown as Response["exchange"],
    { endpoint, mode, intent, account: "a", ...(nonce === undefined ? {} : { nonce }) },
    RULES,
  );
}

/** What a check without parameters reports for a recording of which it reads only a part. */
export function judged(id: string, recording: object) {
  const [instance] = CHECKS.filter((check) => check.id === id).flatMap((check) => instancesOf(check));
  if (instance === undefined) throw new Error(`no check ${id}`);
  return judge(instance, recording as Recordable);
}
