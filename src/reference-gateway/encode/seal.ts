import type { Call } from "../pipeline/behaviour.ts";
import type { GatewayResponse, Header, Parcel, Step, StreamEvent } from "../pipeline/response.ts";

/** Encodes a response, with the headers that every response of its kind has. */
export function seal(response: GatewayResponse, call: Call): Parcel {
  const { status, afterMs, body, outcome } = response;
  const headers: Header[] = [...response.headers, ...requestIds(call)];
  if (body.kind === "none") {
    return { status, headers, afterMs, outcome, body: { kind: "whole", bytes: Buffer.alloc(0) } };
  }
  if (body.kind === "events") {
    const steps = call.behaviour.pack(frames(body.events, call), call);
    headers.push(["Content-Type", "text/event-stream; charset=utf-8"], ["Cache-Control", "no-cache"]);
    return { status, headers, afterMs, outcome, body: { kind: "steps", steps, ending: body.ending } };
  }
  if (body.kind === "relayed") {
    headers.push(["Content-Type", "text/event-stream; charset=utf-8"], ["Cache-Control", "no-cache"]);
    return { status, headers, afterMs, outcome, body };
  }
  const text = body.kind === "json" ? call.behaviour.json(body.value, call) : body.text;
  const { bytes, coding } = call.behaviour.compress(Buffer.from(text, "utf8"), call);
  const contentType = body.kind === "json" ? "application/json; charset=utf-8" : body.contentType;
  headers.push(["Content-Type", contentType], ["Vary", "Accept-Encoding"]);
  if (coding !== undefined) headers.push(["Content-Encoding", coding]);
  headers.push(["Content-Length", String(bytes.length)]);
  return { status, headers, afterMs, outcome, body: { kind: "whole", bytes } };
}

/** Clients of the messages dialect expect the identifier under a different name. */
function requestIds(call: Call): Header[] {
  const id: Header = ["X-Request-Id", call.id];
  return call.dialect === "messages" ? [id, ["Request-Id", call.id]] : [id];
}

function* frames(events: Iterable<StreamEvent>, call: Call): Generator<Step> {
  for (const event of events) {
    yield { atMs: event.atMs, bytes: call.behaviour.frame(event, call), tokens: event.tokens };
  }
}
