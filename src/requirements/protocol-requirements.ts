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
    text: "A response is one well-framed HTTP message: its length is correct, its chunks are complete, its header fields are well-formed, and nothing follows it.",
  },
  {
    id: "HTTP-CODING",
    level: "MUST",
    source: "RFC 9110, 8.4",
    text: "The body is encoded as `Content-Encoding` states.",
  },
  {
    id: "HTTP-ACCEPT-ENCODING",
    level: "SHOULD",
    source: "RFC 9110, 12.5.3",
    text: "The body does not use a coding that the request excluded.",
  },
  {
    id: "HTTP-ALLOW",
    // Not a MUST as in the RFC: by the specification, methods other than its own are recorded and never fail (BASE-5).
    level: "SHOULD",
    source: "RFC 9110, 15.5.6",
    text: "A 405 lists the supported methods in `Allow`.",
  },
  { id: "HTTP-HEAD", level: "MUST", source: "RFC 9110, 9.3.2", text: "The response to HEAD has no body." },
  {
    id: "JSON-UTF8",
    level: "MUST",
    source: "RFC 8259, 8.1; RFC 3629",
    text: "JSON and event streams are valid UTF-8, without malformed byte sequences.",
  },
  { id: "JSON-TEXT", level: "MUST", source: "RFC 8259, 2", text: "A body labelled as JSON is JSON." },
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
    text: "`Retry-After` is sent with responses that tell the client to retry later, not with a success.",
  },
  {
    id: "HTTP-KEEP-ALIVE",
    level: "SHOULD",
    source: "RFC 9112, 9.3 and 9.6",
    text: "A connection stays usable after a response that does not announce a close, including rejections.",
  },
  {
    id: "HTTP-METHOD",
    level: "SHOULD",
    source: "RFC 9110, 15.5.6",
    text: "A method that a path does not support is rejected as the caller's error; it is not served and is not a server error.",
  },
  {
    id: "HTTP-UNKNOWN-HEADER",
    level: "SHOULD",
    source: "RFC 9110, 5.1",
    text: "Unknown header fields are ignored.",
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
    text: "A request with `Expect: 100-continue` gets the same response as any other.",
  },
  {
    id: "HTTP-INTERIM",
    level: "SHOULD",
    source: "RFC 9110, 15.2; common sense",
    text: "Only a few interim responses precede the final response.",
  },
  {
    id: "HTTP-SERVER-ERROR",
    level: "SHOULD",
    source: "RFC 9110, 15.5 and 15.6; specification 7.T.5xx",
    text: "A 5xx means that the gateway or a provider failed. What the client sent is never the only reason for one.",
  },
  {
    id: "BEARER-SCHEME",
    level: "SHOULD",
    source: "RFC 9110, 11.1",
    text: "The scheme name is matched case-insensitively.",
  },
  {
    id: "BEARER-PLACE",
    level: "SHOULD",
    source: "RFC 6750, 2.3 and 5.3",
    text: "A key is accepted in the Authorization header, not in a URL, a cookie or a body.",
  },
  {
    id: "BAD-BODY",
    level: "SHOULD",
    source: "RFC 9110, 15.5.1; common sense",
    text: "A body that cannot be parsed is rejected with 4xx in both dialects.",
  },
  {
    id: "RESPONSE-BEFORE-CLOSE",
    level: "SHOULD",
    source: "RFC 9110, 15.5.14; RFC 9112, 9.5 and 9.6",
    text: "A request whose body is too large gets a response. The gateway may close the connection before it has read the whole body, but only after sending the response, and without losing it.",
  },
  {
    id: "SAME-REQUEST",
    level: "SHOULD",
    source: "RFC 8259, 2 and 7; RFC 9112, 7.1",
    text: "A request means the same however its JSON is formatted, and whether it is sent with a length or in chunks.",
  },
  {
    id: "ANSWER-IN-TIME",
    level: "SHOULD",
    source: "common sense",
    text: "A request that needs no provider gets a response promptly.",
  },
  {
    id: "NO-SECRETS",
    level: "SHOULD",
    source: "common sense; CWE-209",
    text: "No response contains stack traces or the operator's credentials.",
  },
  {
    id: "OWN-ANSWER",
    level: "MUST",
    source: "RFC 9110, 3.3; specification 2.3",
    text: "Every request gets its own response, never the response to another request.",
  },
  {
    id: "TEXT-INTACT",
    level: "SHOULD",
    source: "RFC 8259, 7; common sense",
    text: "Text passes through unchanged: encodings, escapes, length, and which turn gets the reply.",
  },
  {
    id: "COUNTS-ADD-UP",
    level: "SHOULD",
    source: "common sense",
    text: "Token counts are non-negative integers, totals are sums, and generated text never counts as 0 tokens.",
  },
  {
    id: "STEADY-SERVICE",
    level: "SHOULD",
    source: "common sense",
    text: "Valid requests are served every time: no sporadic errors, resets or truncated replies.",
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
    text: "A rejected streaming request gets an error status before any stream begins.",
  },
  {
    id: "STEADY-LATENCY",
    level: "SHOULD",
    source: "common sense",
    text: "Latency does not grow with the number of requests served, and requests do not all stall at the same time.",
  },
  {
    id: "REASON-ON-SUCCESS",
    level: "SHOULD",
    source: "specification 7.P2; common sense",
    text: "A successful response carries no denial reason.",
  },
  {
    id: "LIMIT-CHANGE",
    level: "SHOULD",
    source: "specification 2.7 and 8; common sense",
    text: "New limits of an account, for example after an upgrade, take effect before the rate's minute is over, without a restart.",
  },
  {
    id: "UPSTREAM-CALLER-KEY",
    level: "MUST",
    source: "RFC 6750, 5.3; specification 5.R2",
    text: "The caller's key is for the gateway: no provider receives it.",
  },
  {
    id: "UPSTREAM-OWN-KEY",
    level: "MUST",
    source: "RFC 6750, 5.3; CWE-209",
    text: "The operator's key is for the provider: no caller receives it, not even in an error.",
  },
  {
    id: "UPSTREAM-CONVERSATION",
    level: "MUST",
    source: "specification 1, 2.2 and 2.4",
    text: "The provider receives the conversation as the caller sent it: every turn, in order, with its texts, images and tools.",
  },
  {
    id: "UPSTREAM-PARAMETERS",
    level: "SHOULD",
    source: "common sense",
    text: "The provider receives the request's parameters as the caller sent them, including those that the gateway does not know.",
  },
  {
    id: "UPSTREAM-ATTEMPTS",
    level: "MUST",
    source: "target file, upstream.attempts",
    text: "One caller request causes at most as many provider requests as the operator declares.",
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
    text: "The gateway makes few hidden retries, and finishes them within a minute.",
  },
  {
    id: "UPSTREAM-BLIND-RETRY",
    level: "SHOULD",
    source: "RFC 9110, 9.2.2; specification 7.R3 and 7.R4",
    text: "A request that a provider has begun to serve is not sent again: it may have been completed and would be billed twice.",
  },
  {
    id: "UPSTREAM-FAILOVER",
    level: "MUST",
    source: "target file, upstream.failover",
    text: "If a provider fails before it begins to respond, the next one serves the request.",
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
    text: "When the caller disconnects, its request at the provider is cancelled within a second.",
  },
  {
    id: "UPSTREAM-AFTER-LEFT",
    level: "SHOULD",
    source: "common sense",
    text: "No request is sent to a provider after the caller disconnects.",
  },
  {
    id: "UPSTREAM-USAGE",
    level: "SHOULD",
    source: "OpenAI and Anthropic API references",
    text: "The token counts of a reply are the provider's, including cached tokens.",
  },
  {
    id: "UPSTREAM-REPLY",
    level: "MUST",
    source: "specification 1, 2.3 and 2.5",
    text: "The caller gets the provider's reply: its text or tool call, complete and unchanged.",
  },
  {
    id: "UPSTREAM-LONG-EVENT",
    level: "SHOULD",
    source: "WHATWG HTML, 9.2; common sense",
    text: "Every event of a provider's stream reaches the caller, however long its line is (up to 2 MB). If one does not, the caller sees an error.",
  },
  {
    id: "UPSTREAM-STREAMED",
    level: "SHOULD",
    source: "specification 2.2.stream; common sense",
    text: "What a provider streams reaches the caller as it is sent, not when the stream has ended.",
  },
  {
    id: "UPSTREAM-BROKEN",
    level: "SHOULD",
    source: "RFC 9112, 8; common sense",
    text: "A truncated provider reply does not look complete to the caller.",
  },
  {
    id: "UPSTREAM-BACKPRESSURE",
    level: "SHOULD",
    source: "common sense",
    text: "A slow reader slows the provider down and does not fill the gateway's memory.",
  },
  {
    id: "UPSTREAM-KEEP-ALIVE",
    level: "SHOULD",
    source: "RFC 9112, 9.3",
    text: "Connections to providers are reused.",
  },
  {
    id: "TOKENS-ENFORCED",
    level: "MUST",
    source: "target file, tokenLimits",
    text: "No more tokens are admitted in a window than the declared limit, in every dialect and mode, except for the request that crosses it.",
  },
  {
    id: "TOKENS-NOT-EARLY",
    level: "MUST",
    source: "target file, tokenLimits",
    text: "Usage well below the declared token limit is not denied for tokens.",
  },
  {
    id: "TOKENS-AT-ONCE",
    level: "MUST",
    source: "target file, tokenLimits.inFlightTokens",
    text: "Simultaneous requests do not exceed the limit by more tokens than the operator declares.",
  },
  {
    id: "TOKENS-DENIAL",
    level: "MUST",
    source: "specification 7.T.rate_limit_exceeded; target file, tokenLimits",
    text: "A request over the token limit is denied like one over the request rate: 429 `rate_limit_exceeded`.",
  },
  {
    id: "TOKENS-RETRY-AFTER",
    level: "SHOULD",
    source: "specification 7.R1; RFC 9110, 10.2.3",
    text: "A token denial states in `Retry-After` when to retry, and the same request is admitted then.",
  },
  {
    id: "TOKENS-REMAINING",
    level: "SHOULD",
    source: "target file, tokenLimits.remainingHeaders",
    text: "The gateway then admits the number of remaining tokens that a response states.",
  },
  {
    id: "KEY-ONE-HOST",
    level: "MUST",
    binds: "client",
    source: "specification 5.R2; RFC 9110, 15.4",
    text: "A key is sent only to the host it was configured for, even when a response redirects to another host.",
  },
] as const satisfies readonly ProtocolRequirement[];
