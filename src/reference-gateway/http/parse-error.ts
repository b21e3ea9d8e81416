import type { Duplex } from "node:stream";

const BODIES: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "The request's header fields are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request did not arrive in time."],
};

/**
 * Responds to bytes that are not an HTTP request. The connection cannot be reused, because the start of the next request is
 * unknown.
 */
export function respondToParseError(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] = BODIES[error.code ?? ""] ?? ["400 Bad Request", "The request is not valid HTTP."];
  const body = JSON.stringify({
    error: { message, type: "invalid_request_error", code: Number(status.slice(0, 3)), param: null },
  });
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      "X-Service-Error-Code: invalid_request",
      "Content-Type: application/json; charset=utf-8",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}
