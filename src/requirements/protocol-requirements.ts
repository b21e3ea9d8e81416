interface ProtocolRequirement {
  readonly id: string;
  /** MUST: a standard under the interface demands it. SHOULD: a standard advises it, or common sense does. */
  readonly level: "MUST" | "SHOULD";
  readonly source: string;
  readonly text: string;
  /** Whom it binds. Default: the gateway. */
  readonly binds?: "client";
}

/** What the standards under the interface demand, and what common sense does. Each requirement cites its source. */
export const PROTOCOL_REQUIREMENTS = [
  {
    id: "HTTP-FRAMING",
    level: "MUST",
    source: "RFC 9112, 5 and 6",
    text: "An answer is one well-framed HTTP message: its length is true, its chunks are whole, its header fields are well-formed, nothing follows it.",
  },
  {
    id: "HTTP-CODING",
    level: "MUST",
    source: "RFC 9110, 8.4 and 12.5.3",
    text: "A body is encoded as `Content-Encoding` says, and not in a coding that was excluded.",
  },
  {
    id: "HTTP-ALLOW",
    level: "MUST",
    source: "RFC 9110, 15.5.6",
    text: "A 405 says in `Allow` which methods there are.",
  },
  { id: "HTTP-HEAD", level: "MUST", source: "RFC 9110, 9.3.2", text: "HEAD is answered without a body." },
  {
    id: "JSON-UTF8",
    level: "MUST",
    source: "RFC 8259, 8.1; RFC 3629",
    text: "JSON and event streams are UTF-8: no byte sequence in them is malformed.",
  },
  { id: "JSON-TEXT", level: "MUST", source: "RFC 8259, 2", text: "A body that is labelled as JSON is JSON." },
  {
    id: "HTTP-RETRY-AFTER-FORM",
    level: "MUST",
    source: "RFC 9110, 2.2 and 10.2.3",
    text: "`Retry-After` is one value: a number of seconds in digits, or an HTTP date.",
  },
  {
    id: "HTTP-RETRY-AFTER",
    level: "SHOULD",
    source: "RFC 9110, 10.2.3",
    text: "`Retry-After` is sent with answers that ask to come back later, not with a success.",
  },
  {
    id: "HTTP-KEEP-ALIVE",
    level: "SHOULD",
    source: "RFC 9112, 9.3 and 9.6",
    text: "A connection stays usable after an answer that does not announce its end, refusals included.",
  },
  {
    id: "HTTP-METHOD",
    level: "SHOULD",
    source: "RFC 9110, 15.5.6",
    text: "A method that a path does not know is refused as the caller's error, not served and not a server error.",
  },
  {
    id: "HTTP-UNKNOWN-HEADER",
    level: "SHOULD",
    source: "RFC 9110, 5.1",
    text: "Header fields that are not known are ignored.",
  },
  {
    id: "HTTP-URL",
    level: "SHOULD",
    source: "RFC 9110, 15.5.1",
    text: "A malformed path or an unknown query is not a server error.",
  },
  {
    id: "HTTP-EXPECT",
    level: "SHOULD",
    source: "RFC 9110, 10.1.1",
    text: "A request that expects 100-continue is answered like any other.",
  },
  {
    id: "BEARER-SCHEME",
    level: "SHOULD",
    source: "RFC 9110, 11.1",
    text: "The scheme's name is matched without regard to letter case.",
  },
  {
    id: "BEARER-PLACE",
    level: "SHOULD",
    source: "RFC 6750, 2.3 and 5.3",
    text: "A key is honoured in the Authorization header, not in a URL, a cookie or a body.",
  },
  {
    id: "BAD-BODY",
    level: "SHOULD",
    source: "RFC 9110, 15.5.1; common sense",
    text: "A body that cannot be read is refused with 4xx, in any dialect.",
  },
  {
    id: "SAME-REQUEST",
    level: "SHOULD",
    source: "RFC 8259, 2 and 7; RFC 9112, 7.1",
    text: "A request means the same however its JSON is written, and whether it is sent with a length or in chunks.",
  },
  {
    id: "ANSWER-IN-TIME",
    level: "SHOULD",
    source: "common sense",
    text: "A request that needs no provider is answered soon.",
  },
  {
    id: "NO-SECRETS",
    level: "SHOULD",
    source: "common sense; CWE-209",
    text: "No answer shows stack traces or credentials of the operator.",
  },
  {
    id: "OWN-ANSWER",
    level: "MUST",
    source: "RFC 9110, 3.3; specification 2.3",
    text: "Every request gets its own answer, never that of another request.",
  },
  {
    id: "TEXT-INTACT",
    level: "SHOULD",
    source: "RFC 8259, 7; common sense",
    text: "Text passes through unchanged: encodings, escapes, length, and which turn is answered.",
  },
  {
    id: "COUNTS-ADD-UP",
    level: "SHOULD",
    source: "common sense",
    text: "Token counts are whole numbers of zero or more, and totals are sums.",
  },
  {
    id: "STEADY-SERVICE",
    level: "SHOULD",
    source: "common sense",
    text: "Good requests are served every time: no sporadic errors, resets or endings.",
  },
  {
    id: "STEADY-LATENCY",
    level: "SHOULD",
    source: "common sense",
    text: "Latency does not grow with the number of requests served, and requests do not stall all at once.",
  },
  {
    id: "REASON-ON-SUCCESS",
    level: "SHOULD",
    source: "specification 7.P2; common sense",
    text: "An answer that was served names no reason for a denial.",
  },
  {
    id: "KEY-ONE-HOST",
    level: "MUST",
    binds: "client",
    source: "specification 5.R2; RFC 9110, 15.4",
    text: "A key is sent to the host that it was configured for and to no other, also when an answer redirects there.",
  },
] as const satisfies readonly ProtocolRequirement[];
