import type { ExchangeLine } from "../record/index.ts";
import { type Attempt, headerOf } from "./observation.ts";

/**
 * A line of `exchanges.ndjson.gz` in the format that reports read. Not redacted: it contains the key.
 *
 * @param startMs monotonic milliseconds at the start of the run.
 */
export function evidenceOf({ id, request, answer }: Attempt, scenario: string, startMs: number): ExchangeLine {
  const us = (ms: number) => Math.round((ms - startMs) * 1_000);
  const answered = answer?.beganMs === undefined ? undefined : answer;
  return {
    requested: { endpoint: request.endpoint, mode: request.stream ? "streaming" : "non-streaming", intent: scenario },
    exchange: {
      id,
      startedAtMs: request.atWallMs,
      key: "valid",
      request: {
        method: request.method,
        url: `http://${headerOf({ request }, "host") ?? "127.0.0.1"}${request.url}`,
        headers: request.headers,
        ...(request.body === "" ? {} : { body: request.body }),
      },
      timeline: { dueUs: us(request.atMs), sentUs: us(request.atMs), endUs: us(answer?.endedMs ?? request.atMs) },
      ending: endingOf(answer),
      ...(answered === undefined
        ? {}
        : {
            response: {
              status: answered.status,
              headers: answered.headers,
              trailers: [],
              body: { text: answered.body, bytes: Buffer.byteLength(answered.body), pieces: [] },
            },
          }),
    },
  };
}

function endingOf(answer: Attempt["answer"]): { readonly kind: string; readonly detail?: string } {
  if (answer?.outcome === "broken") return { kind: "reset", detail: "the scenario cuts the stream" };
  if (answer === undefined || answer.outcome === "interrupted") return { kind: "aborted", detail: "the client left" };
  return { kind: "complete" };
}
