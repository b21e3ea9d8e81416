interface ProtocolRequirement {
  readonly id: string;
  /** MUST: a standard that the interface builds on requires it. SHOULD: a standard advises it, or common sense does. */
  readonly level: "MUST" | "SHOULD";
  readonly source: string;
  readonly text: string;
  /** Who must meet it. Default: the gateway. */
  readonly binds?: "client";
}

/** What the underlying standards require, and what common sense does. Each requirement cites its source. */
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
    source: "RFC 9110, 8.4",
    text: "A body is encoded as `Content-Encoding` says.",
  },
  {
    id: "HTTP-ACCEPT-ENCODING",
    level: "SHOULD",
    source: "RFC 9110, 12.5.3",
    text: "A body does not use a coding that the request excluded.",
  },
  {
    id: "HTTP-ALLOW",
    // Not a MUST as in the RFC: by the specification, methods other than its own are recorded and never fail (BASE-5).
    level: "SHOULD",
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
    id: "HTTP-INTERIM",
    level: "SHOULD",
    source: "RFC 9110, 15.2; common sense",
    text: "A response follows after only a few interim responses.",
  },
  {
    id: "HTTP-SERVER-ERROR",
    level: "SHOULD",
    source: "RFC 9110, 15.5 and 15.6; specification 7.T.5xx",
    text: "A 5xx says that the gateway or a provider failed. A request does not get one just because of what the client sent.",
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
    id: "RESPONSE-BEFORE-CLOSE",
    level: "SHOULD",
    source: "RFC 9110, 15.5.14; RFC 9112, 9.5 and 9.6",
    text: "A request whose body is too large gets a response. The connection may be closed before the whole body has been read, but only after the response was sent, and without losing the response.",
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
    text: "Token counts are whole numbers of zero or more, totals are sums, and a generated text does not count as 0 tokens.",
  },
  {
    id: "STEADY-SERVICE",
    level: "SHOULD",
    source: "common sense",
    text: "Good requests are served every time: no sporadic errors, resets or endings.",
  },
  {
    id: "KEEPS-RESPONDING",
    level: "MUST",
    source: "common sense; CWE-400",
    text: "Nothing that a client sends makes the gateway stop responding to other requests.",
  },
  {
    id: "REFUSED-IN-TIME",
    level: "SHOULD",
    source: "specification 7.P1; common sense",
    text: "A request for a stream that is refused gets an error status, before any stream begins.",
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
    id: "LIMIT-CHANGE",
    level: "SHOULD",
    source: "specification 2.7 and 8; common sense",
    text: "Other limits of an account, after an upgrade for example, are in force before the rate's minute is over, without a restart.",
  },
  {
    id: "UPSTREAM-CALLER-KEY",
    level: "MUST",
    source: "RFC 6750, 5.3; specification 5.R2",
    text: "The key of the caller is for the gateway: no provider gets it.",
  },
  {
    id: "UPSTREAM-OWN-KEY",
    level: "MUST",
    source: "RFC 6750, 5.3; CWE-209",
    text: "The key of the operator is for the provider: no caller gets it, in an error either.",
  },
  {
    id: "UPSTREAM-CONVERSATION",
    level: "MUST",
    source: "specification 1, 2.2 and 2.4",
    text: "The provider gets the conversation as the caller sent it: every turn, in order, with its texts, images and tools.",
  },
  {
    id: "UPSTREAM-PARAMETERS",
    level: "SHOULD",
    source: "common sense",
    text: "The provider gets the parameters of the request as the caller sent them, also those that the gateway does not know.",
  },
  {
    id: "UPSTREAM-ATTEMPTS",
    level: "MUST",
    source: "target file, upstream.attempts",
    text: "One request of a caller makes at most as many requests to providers as the operator says.",
  },
  {
    id: "UPSTREAM-TIMEOUT",
    level: "SHOULD",
    source: "RFC 9110, 15.6.5; specification 7.T.5xx",
    text: "If a provider does not respond, the gateway sends a 5xx while the caller is still waiting.",
  },
  {
    id: "UPSTREAM-RETRY-BOUNDED",
    level: "SHOULD",
    source: "specification 7.T.5xx; common sense",
    text: "Retries behind the caller's back are few, and over within a minute.",
  },
  {
    id: "UPSTREAM-BLIND-RETRY",
    level: "SHOULD",
    source: "RFC 9110, 9.2.2; specification 7.R3 and 7.R4",
    text: "What a provider began to answer is not asked for again: it may have been done, and is paid for twice.",
  },
  {
    id: "UPSTREAM-FAILOVER",
    level: "MUST",
    source: "target file, upstream.failover",
    text: "Where one provider fails before it began to answer, the next one serves the request.",
  },
  {
    id: "UPSTREAM-SAME-MODEL",
    level: "SHOULD",
    source: "OpenAI and Anthropic API references; common sense",
    text: "A reply names the same model, whichever provider served it.",
  },
  {
    id: "UPSTREAM-CANCEL",
    level: "SHOULD",
    source: "common sense",
    text: "A request whose caller has left is ended at the provider within a second.",
  },
  {
    id: "UPSTREAM-AFTER-LEFT",
    level: "SHOULD",
    source: "common sense",
    text: "No provider is asked after the caller has left.",
  },
  {
    id: "UPSTREAM-USAGE",
    level: "SHOULD",
    source: "OpenAI and Anthropic API references",
    text: "The token counts of a reply are the provider's, those read from a cache included.",
  },
  {
    id: "UPSTREAM-REPLY",
    level: "MUST",
    source: "specification 1, 2.3 and 2.5",
    text: "The caller gets the provider's reply: its text or tool call, whole and unchanged.",
  },
  {
    id: "UPSTREAM-LONG-EVENT",
    level: "SHOULD",
    source: "WHATWG HTML, 9.2; common sense",
    text: "An event of a provider's stream reaches the caller, however long its line is (up to 2 MB). If it does not, the caller sees an error.",
  },
  {
    id: "UPSTREAM-STREAMED",
    level: "SHOULD",
    source: "specification 2.2.stream; common sense",
    text: "What a provider streams reaches the caller as it comes, not when the stream has ended.",
  },
  {
    id: "UPSTREAM-BROKEN",
    level: "SHOULD",
    source: "RFC 9112, 8; common sense",
    text: "A provider's reply that breaks off does not look complete to the caller.",
  },
  {
    id: "UPSTREAM-BACKPRESSURE",
    level: "SHOULD",
    source: "common sense",
    text: "A caller that reads slowly slows the provider down, and does not fill the gateway's memory.",
  },
  {
    id: "UPSTREAM-KEEP-ALIVE",
    level: "SHOULD",
    source: "RFC 9112, 9.3",
    text: "Connections to providers are used again.",
  },
  {
    id: "TOKENS-ENFORCED",
    level: "MUST",
    source: "target file, tokenLimits",
    text: "No more tokens are admitted in a window than the declared limit, in every dialect and mode; the request that crosses it may be.",
  },
  {
    id: "TOKENS-NOT-EARLY",
    level: "MUST",
    source: "target file, tokenLimits",
    text: "Usage well below the declared limit on tokens is not denied for it.",
  },
  {
    id: "TOKENS-AT-ONCE",
    level: "MUST",
    source: "target file, tokenLimits.inFlightTokens",
    text: "Requests that come at the same time take no more tokens beyond the limit than the operator says.",
  },
  {
    id: "TOKENS-DENIAL",
    level: "MUST",
    source: "specification 7.T.rate_limit_exceeded; target file, tokenLimits",
    text: "A request beyond the limit on tokens is denied like one beyond the request rate: 429 `rate_limit_exceeded`.",
  },
  {
    id: "TOKENS-RETRY-AFTER",
    level: "SHOULD",
    source: "specification 7.R1; RFC 9110, 10.2.3",
    text: "A denial for tokens says in `Retry-After` when to come back, and the same request is admitted then.",
  },
  {
    id: "TOKENS-REMAINING",
    level: "SHOULD",
    source: "target file, tokenLimits.remainingHeaders",
    text: "The remaining tokens that a response tells are what is then admitted.",
  },
  {
    id: "KEY-ONE-HOST",
    level: "MUST",
    binds: "client",
    source: "specification 5.R2; RFC 9110, 15.4",
    text: "A key is sent to the host that it was configured for and to no other, also when an answer redirects there.",
  },
] as const satisfies readonly ProtocolRequirement[];
