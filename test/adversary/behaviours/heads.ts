import { type Behaviour, denial, drip, flood, head, JSON_TYPE, reply, whole } from "../behaviour.ts";

const LONG = Buffer.from("a".repeat(64 * 1024));
const repeated = (line: string, times: number) => Array.from({ length: times }, () => line);

/** Heads without end, with unusual sizes, or of another protocol. */
export const HEADS: readonly Behaviour[] = [
  { name: "head.never" },
  { name: "head.one-byte-per-second", respond: (socket) => drip(socket, head("200 OK", JSON_TYPE)) },
  {
    name: "head.endless-fields",
    respond: (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      flood(socket, Buffer.from(`x-filler: ${"a".repeat(1_000)}\r\n`.repeat(60)));
    },
  },
  {
    name: "head.endless-value",
    respond: (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nx-filler: ");
      flood(socket, LONG);
    },
  },
  {
    name: "head.endless-status-line",
    respond: (socket) => {
      socket.write("HTTP/1.1 200 ");
      flood(socket, LONG);
    },
  },
  {
    name: "head.endless-100-continue",
    respond: (socket) => {
      socket.write("HTTP/1.1 100 Continue\r\nx-filler: ");
      flood(socket, LONG);
    },
  },
  {
    name: "head.flood-of-100",
    respond: (socket) => flood(socket, Buffer.from(`${head("100 Continue")}`.repeat(2_000))),
  },
  {
    name: "head.flood-of-102",
    respond: (socket) => flood(socket, Buffer.from(`${head("102 Processing")}`.repeat(2_000))),
  },
  {
    name: "head.flood-of-103",
    respond: (socket) => flood(socket, Buffer.from(head("103 Early Hints", `link: <${"a".repeat(60_000)}>`))),
  },
  {
    name: "head.switching-protocols",
    respond: (socket) => void socket.write(head("101 Switching Protocols", "upgrade: h2c", "connection: upgrade")),
  },
  {
    name: "head.value-of-200-kb",
    harmless: true,
    respond: (socket) => void socket.write(whole(reply(), "200 OK", `x-request-id: ${"r".repeat(200_000)}`)),
  },
  {
    name: "head.reason-of-200-kb",
    respond: (socket) => void socket.write(denial("429 No", "r".repeat(200_000))),
  },
  {
    name: "head.another-reason-each-time",
    respond: (socket, { count }) => void socket.write(denial("429 No", `reason_${count}_${"x".repeat(50_000)}`)),
  },
  {
    name: "head.sixteen-thousand-retry-after",
    respond: (socket) =>
      void socket.write(denial("429 No", "rate_limit_exceeded", ...repeated("retry-after:", 16_000))),
  },
  {
    name: "head.fifteen-thousand-fields",
    harmless: true,
    respond: (socket) => void socket.write(whole(reply(), "200 OK", ...repeated("x-a: b", 15_000))),
  },
  {
    name: "head.blanks-inside-values",
    harmless: true,
    respond: (socket) => {
      const value = `1${" ".repeat(30_000)}1`;
      const names = [
        "x-request-id",
        "retry-after",
        "x-service-error-code",
        "date",
        "server",
        "connection",
        "set-cookie",
      ];
      socket.write(whole(reply(), "200 OK", ...names.map((name) => `${name}: ${value}`)));
    },
  },
  {
    name: "head.commas-and-digits-in-retry-after",
    respond: (socket) =>
      void socket.write(
        denial(
          "429 No",
          "rate_limit_exceeded",
          `retry-after: ${"1 , ".repeat(15_000)}x`,
          `retry-after: ${"9".repeat(60_000)}x`,
        ),
      ),
  },
  {
    name: "head.injection",
    harmless: true,
    respond: (socket) =>
      void socket.write(
        whole(
          reply(),
          "200 \u001b[31mred\u001b]0;title\u0007",
          "x-request-id: \u001b[2J\u001b]8;;http://evil.example.test\u0007link",
          "server: <script>alert(1)</script>",
          "x-service-error-code: ::error title=x::y%0A",
        ),
      ),
  },
  {
    name: "head.bare-cr-and-nul",
    respond: (socket) => void socket.write("HTTP/1.1 200 OK\r\nx-a: b\rc\r\nx-n: a\0b\r\ncontent-length: 2\r\n\r\n{}"),
  },
  {
    name: "head.folded-fields",
    respond: (socket) => void socket.write("HTTP/1.1 200 OK\r\nx-a: b\r\n c\r\ncontent-length: 2\r\n\r\n{}"),
  },
  { name: "head.no-status", respond: (socket) => void socket.end('{"data":[]}\r\n\r\n') },
  { name: "head.status-999", respond: (socket) => void socket.write(whole(reply(), "999 Odd")) },
  {
    name: "head.status-of-many-digits",
    respond: (socket) => void socket.write(whole(reply(), "20000000000000000000 OK")),
  },
  {
    name: "head.http-9",
    respond: (socket) => void socket.write(whole(reply()).toString("latin1").replace("HTTP/1.1", "HTTP/9.9")),
  },
  {
    name: "head.http2-goaway",
    respond: (socket) =>
      void socket.write(
        Buffer.concat([
          // SETTINGS, then GOAWAY with ENHANCE_YOUR_CALM.
          Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
          Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11]),
        ]),
      ),
  },
];
