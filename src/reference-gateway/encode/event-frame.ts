import type { Call } from "../pipeline/behaviour.ts";
import type { StreamEvent } from "../pipeline/response.ts";

/** One event in the event-stream format: an optional name, one line of data, an empty line. */
export function frame(event: StreamEvent, call: Call): string {
  const data = dataText(event, call);
  return event.name === undefined ? `data: ${data}\n\n` : `event: ${event.name}\ndata: ${data}\n\n`;
}

/** The event's data as text. `JSON.stringify` adds no line breaks, so it always fits on one line. */
export function dataText({ data }: StreamEvent, call: Call): string {
  return typeof data === "string" ? data : call.behaviour.json(data, call);
}
