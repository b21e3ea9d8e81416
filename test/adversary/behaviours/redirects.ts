import { type Behaviour, denial, head, reply, whole } from "../behaviour.ts";

const redirect =
  (status: string, to: (trap: string) => string): NonNullable<Behaviour["respond"]> =>
  (socket, _request, { trap }) =>
    void socket.write(head(status, `location: ${to(trap)}`, "content-length: 0"));

/** Redirects, refusals, waits, and addresses without a gateway. */
export const REDIRECTS: readonly Behaviour[] = [
  { name: "redirect.301", respond: redirect("301 Moved", (trap) => `${trap}/v1/models`) },
  { name: "redirect.302", respond: redirect("302 Found", (trap) => `${trap}/v1/chat/completions`) },
  { name: "redirect.307", respond: redirect("307 Same", (trap) => `${trap}/v1/chat/completions`) },
  { name: "redirect.308", respond: redirect("308 Same for good", (trap) => `${trap}/`) },
  { name: "redirect.to-a-file", respond: redirect("302 Found", () => "file:///etc/passwd") },
  { name: "redirect.without-scheme", respond: redirect("302 Found", (trap) => trap.replace("http:", "")) },
  {
    name: "redirect.refresh",
    respond: (socket, _r, { trap }) =>
      void socket.write(
        whole(
          reply(),
          "200 OK",
          `refresh: 0; url=${trap}`,
          `alt-svc: h2="${trap.slice(7)}"`,
          `content-location: ${trap}`,
        ),
      ),
    harmless: true,
  },
  {
    name: "redirect.proxy",
    respond: (socket, _r, { trap }) => void socket.write(whole("", "305 Use Proxy", `location: ${trap}`)),
  },
  {
    name: "wait.a-century",
    respond: (socket) => void socket.write(denial("429 No", "rate_limit_exceeded", "retry-after: 3155760000")),
  },
  {
    name: "wait.four-hundred-digits",
    respond: (socket) =>
      void socket.write(denial("429 No", "concurrency_limit_exceeded", `retry-after: ${"9".repeat(400)}`)),
  },
  {
    name: "wait.until-9999",
    respond: (socket) =>
      void socket.write(denial("429 No", "rate_limit_exceeded", "retry-after: Fri, 31 Dec 9999 23:59:59 GMT")),
  },
  {
    name: "wait.below-zero",
    respond: (socket) => void socket.write(denial("429 No", "rate_limit_exceeded", "retry-after: -5")),
  },
  {
    name: "wait.none",
    respond: (socket) => void socket.write(denial("429 No", "rate_limit_exceeded", "retry-after: 0")),
  },
  {
    name: "refuse.401-everywhere",
    rejectsKey: true,
    respond: (socket) => void socket.write(denial("401 No", "invalid_api_key")),
  },
  { name: "refuse.402-everywhere", respond: (socket) => void socket.write(denial("402 Pay", "insufficient_credits")) },
  { name: "refuse.503-everywhere", respond: (socket) => void socket.write(whole("", "503 Down", "retry-after: 1")) },
  {
    name: "date.year-zero",
    harmless: true,
    respond: (socket) =>
      void socket.write(
        whole(reply(), "200 OK", "date: Mon, 01 Jan 0000 00:00:00 GMT", "age: 1e999", "x-ratelimit-limit: Infinity"),
      ),
  },
  { name: "address.nothing-listens", address: () => "http://127.0.0.1:9", unreachable: true },
  { name: "address.unknown-host", address: () => "http://no-such-host.invalid", unreachable: true },
  {
    name: "tls.plain-server",
    address: (port) => `https://127.0.0.1:${port}`,
    respond: (socket) => void socket.write(whole(reply())),
    unreachable: true,
  },
  { name: "tls.never-responds", address: (port) => `https://127.0.0.1:${port}`, unreachable: true },
  {
    name: "tls.alert",
    address: (port) => `https://127.0.0.1:${port}`,
    // A fatal alert: handshake failure.
    onConnect: (socket) => void socket.write(Buffer.from([0x15, 3, 3, 0, 2, 2, 40])),
    unreachable: true,
  },
  {
    name: "tls.garbage",
    address: (port) => `https://127.0.0.1:${port}`,
    onConnect: (socket) => void socket.write(Buffer.alloc(70_000, 0x16)),
    unreachable: true,
  },
];
