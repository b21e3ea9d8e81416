/** Maximum length of a head that is kept for diagnosis, characters. */
export const MAX_KEPT_HEAD = 64 * 1024;
/** Maximum length of a field name in a message, characters. */
const MAX_SHOWN_NAME = 40;

const STATUS_LINE = /^HTTP\/1\.[01] \d{3}(?: |$)/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that a field value may not have
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
/** A longer number is not exact in JavaScript, and no response is that long. */
const MAX_LENGTH_DIGITS = 15;

/**
 * Describes the rule of HTTP/1.1 that the head of a response violates. A parser only says where it stopped; this says what the server has
 * to change.
 *
 * @param text what was received, from the first byte of the response, as latin1; it may end anywhere.
 * @returns `undefined` if the received part has no defect.
 */
export function headDefect(text: string): string | undefined {
  // An empty line before the status line is tolerated (RFC 9112, 2.2).
  const received = text.replace(/^(?:\r\n)+/, "");
  const foreign = notHttp(received);
  if (foreign !== undefined) return foreign;
  const end = received.indexOf("\r\n\r\n");
  // An incomplete last line may be truncated, which is not a defect.
  const head = end === -1 ? received.slice(0, received.lastIndexOf("\n") + 1) : received.slice(0, end + 2);
  if (/(?:^|[^\r])\n/.test(head))
    return "a line of the head that ends with a bare LF and not with CRLF (RFC 9112, 2.2)";
  if (/\r[^\n]/.test(head)) return "a bare CR in the head (RFC 9112, 2.2)";
  const [statusLine, ...fields] = head.split("\r\n").filter((line) => line !== "");
  if (statusLine === undefined) return undefined;
  if (!STATUS_LINE.test(statusLine))
    return "a status line that is not HTTP/1.1 followed by a three-digit status (RFC 9112, 4)";
  if (statusLine.startsWith("HTTP/1.1 101"))
    return "101 Switching Protocols for a request that asks for no other protocol (RFC 9110, 15.2.2)";
  return fields.map(fieldDefect).find((defect) => defect !== undefined) ?? lengthDefect(fields);
}

/** What was received instead of a status line. */
function notHttp(received: string): string | undefined {
  const start = "HTTP/".slice(0, received.length);
  if (received.startsWith(start)) return undefined;
  if (received.startsWith("\x15\x03") || received.startsWith("\x16\x03"))
    return "a TLS record where the status line belongs";
  if (received.startsWith("\0") && received[3] === "\x04") return "an HTTP/2 frame where the status line belongs";
  return "no HTTP status line (RFC 9112, 4)";
}

function fieldDefect(line: string, index: number): string | undefined {
  if (/^[ \t]/.test(line)) {
    return index === 0
      ? "whitespace before the first header field (RFC 9112, 2.2)"
      : "a header field that is folded over several lines (obs-fold; RFC 9112, 5.2)";
  }
  const colon = line.indexOf(":");
  if (colon === -1) return "a header line without a colon (RFC 9112, 5)";
  const name = line.slice(0, colon);
  const shown = JSON.stringify(
    name
      .trim()
      .slice(0, MAX_SHOWN_NAME)
      .replace(/[^ -~]/g, "?"),
  );
  if (/[ \t]$/.test(name)) return `whitespace between the field name ${shown} and its colon (RFC 9112, 5.1)`;
  if (!TOKEN.test(name)) return `the field name ${shown}, which is not a token (RFC 9110, 5.1)`;
  if (CONTROL.test(line.slice(colon + 1))) return `a control character in the value of ${shown} (RFC 9110, 5.5)`;
  return undefined;
}

function lengthDefect(fields: readonly string[]): string | undefined {
  const valuesOf = (name: string) =>
    fields
      .filter((line) => line.slice(0, line.indexOf(":")).toLowerCase() === name)
      .map((line) => line.slice(line.indexOf(":") + 1).trim());
  const lengths = valuesOf("content-length");
  if (lengths.length > 0 && valuesOf("transfer-encoding").length > 0)
    return "both Content-Length and Transfer-Encoding (RFC 9112, 6.2)";
  if (lengths.length > 1 || lengths[0]?.includes(",") === true) return "more than one Content-Length (RFC 9110, 8.6)";
  const isNumber = lengths.every((length) => /^\d+$/.test(length) && length.length <= MAX_LENGTH_DIGITS);
  return isNumber ? undefined : "a Content-Length that is not a number of bytes (RFC 9110, 8.6)";
}
