import type { Readable } from "node:stream";
import { messageOf } from "../../core/index.ts";
import type { Call } from "../pipeline/behaviour.ts";
import { chatError, messagesError } from "../pipeline/refuse.ts";
import type { RelayedPiece } from "../pipeline/response.ts";
import { usageOf } from "./usage.ts";

/** Longest event that is inspected; longer ones are passed on unread. */
const MAX_EVENT_BYTES = 1_024 * 1_024;
/** The event has text or a part of a tool call; matched without parsing. */
const HAS_OUTPUT = /"(?:content|text|partial_json|arguments)":"[^"]/;
const ENDS = /^data: ?\[DONE\]|"type": ?"message_stop"/m;

/**
 * A provider's stream, passed on as it arrives. Its usage is recorded; if it is interrupted, an error item of the dialect
 * follows, and the connection ends without the end of a stream.
 */
export async function* relayedStream(body: Readable, call: Call): AsyncGenerator<RelayedPiece> {
  const events = new EventReader(call);
  let why = "the stream ended without its end marker";
  try {
    for await (const part of body) {
      const bytes = part as Buffer;
      yield { bytes, tokens: events.read(bytes), isBroken: false };
    }
  } catch (error) {
    why = messageOf(error);
  }
  if (events.ended) return;
  const failure = { status: 502, body: why } as const;
  call.upstreamFailure = failure;
  const refused = call.behaviour.upstreamRefusal(failure, call);
  const isMessages = call.dialect === "messages";
  const data = isMessages ? messagesError(refused, call) : chatError(refused);
  const event = { kind: "error", atMs: 0, tokens: 0, data, ...(isMessages ? { name: "error" } : {}) } as const;
  yield { bytes: Buffer.from(call.behaviour.frame(event, call)), tokens: 0, isBroken: true };
}

/** Reads usage and the end marker from the events of a stream. */
class EventReader {
  readonly #call: Call;
  readonly #decoder = new TextDecoder();
  #rest = "";
  ended = false;

  constructor(call: Call) {
    this.#call = call;
  }

  /** @returns the number of output events that these bytes complete. */
  read(bytes: Buffer): number {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    const events = this.#rest.split(/\r?\n\r?\n/);
    this.#rest = events.pop() ?? "";
    if (this.#rest.length > MAX_EVENT_BYTES) this.#rest = "";
    let outputs = 0;
    for (const event of events) {
      if (HAS_OUTPUT.test(event)) outputs++;
      if (event.includes('"usage"')) this.#note(event);
      if (ENDS.test(event)) this.ended = true;
    }
    return outputs;
  }

  #note(event: string): void {
    const data = event
      .split(/\r?\n/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5))
      .join("\n");
    try {
      const usage = usageOf(JSON.parse(data));
      if (usage !== undefined) this.#call.usage = { ...this.#call.usage, ...usage };
    } catch {
      // Not JSON: it contains no usage.
    }
  }
}
