interface ProtocolRequirement {
  readonly id: string;
  /** MUST: a standard under the interface demands it. SHOULD: a standard advises it, or common sense does. */
  readonly level: "MUST" | "SHOULD";
  readonly source: string;
  readonly text: string;
}

/** What the standards under the interface demand, and what common sense does. Each row cites its source. */
export const PROTOCOL_ROWS = [
  {
    id: "HTTP-FRAMING",
    level: "MUST",
    source: "RFC 9112, 6",
    text: "An answer is one well-framed HTTP message: its length is true, its chunks are whole, nothing follows it.",
  },
  {
    id: "HTTP-CODING",
    level: "MUST",
    source: "RFC 9110, 8.4",
    text: "A body is encoded as `Content-Encoding` says, and in no coding that was not accepted.",
  },
  {
    id: "JSON-UTF8",
    level: "MUST",
    source: "RFC 8259, 8.1; RFC 3629",
    text: "JSON and event streams are UTF-8: no byte sequence in them is malformed.",
  },
  {
    id: "JSON-TEXT",
    level: "MUST",
    source: "RFC 8259, 2",
    text: "A body that is labelled as JSON is JSON.",
  },
  {
    id: "HTTP-RETRY-AFTER",
    level: "SHOULD",
    source: "RFC 9110, 10.2.3",
    text: "`Retry-After` is sent with answers that ask to come back later, not with a success.",
  },
] as const satisfies readonly ProtocolRequirement[];
