import type { ExchangeLine } from "../record/index.ts";
import { type Attempt, headerOf } from "./observation.ts";

/**
 * A line of `exchanges.ndjson.gz` in the format that reports read. Not redacted: it contains the key.
 *
 * @param startMs monotonic milliseconds at the start of the run.
 */
export function evidenceOf({ id, request, response }: Attempt, scenario: string, startMs: number): ExchangeLine {
  const us = (ms: number) => Math.round((ms - startMs) * 1_000);
  const begun = response?.beganMs === undefined ? undefined : response;
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
      timeline: { dueUs: us(request.atMs), sentUs: us(request.atMs), endUs: us(response?.endedMs ?? request.atMs) },
      ending: endingOf(response),
      ...(begun === undefined
        ? {}
        : {
            response: {
              status: begun.status,
              headers: begun.headers,
              trailers: [],
              body: { text: begun.body, bytes: Buffer.byteLength(begun.body), pieces: [] },
            },
          }),
    },
  };
}

function endingOf(response: Attempt["response"]): { readonly kind: string; readonly detail?: string } {
  if (response?.outcome === "broken") return { kind: "reset", detail: "the scenario cuts the stream" };
  if (response === undefined || response.outcome === "interrupted")
    return { kind: "aborted", detail: "the client disconnected" };
  return { kind: "complete" };
}
