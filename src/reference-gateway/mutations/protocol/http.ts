import { grid, type Mutation, mutation } from "../../change.ts";
import { CHUNKED, deliverRaw, PLAIN, type RawFormat } from "../../delivery/deliver-raw.ts";
import { parcelHeader } from "../../edits/replies/response-edits.ts";
import { chatReply } from "../../edits/reply-kinds.ts";
import { always, both, nonAscii, not, streaming, type When } from "../../edits/when.ts";
import { type Apply, onParcel, wrap } from "../../edits/wrap.ts";
import type { Header, Parcel } from "../../pipeline/response.ts";
import { headerOf } from "../../pipeline/response.ts";

const LENGTH = "Content-Length";

const denied: When = (call) => call.refused !== undefined;

const withLength =
  (change: (length: number) => number) =>
  (parcel: Parcel): Parcel =>
    parcelHeader(LENGTH, String(change(Number(headerOf(parcel.headers, LENGTH) ?? 0))))(parcel);

/** Writes some responses without Node's HTTP. */
const sentRaw = (when: When, format: RawFormat): Apply =>
  wrap(
    "deliver",
    (next) => (parcel, call, delivery) =>
      when(call) && parcel.body.kind === "whole"
        ? deliverRaw(parcel, call, delivery, format)
        : next(parcel, call, delivery),
  );

const plainWith = (...headers: readonly Header[]): RawFormat => ({
  ...PLAIN,
  headers: (parcel) => [...parcel.headers, ...headers],
});

const LENGTH_REQUIREMENTS = ["HTTP-FRAMING", "CHAT-1", "CHAT-2", "ERR-200-1"];

/** Frames, codings and syntax below the interface: HTTP, JSON, UTF-8. */
export const PROTOCOL_MUTATIONS: readonly Mutation[] = [
  mutation("protocol.length-one-short", {
    breaks: LENGTH_REQUIREMENTS,
    summary: "Content-Length of non-streaming chat replies is one byte too small.",
    apply: onParcel(
      chatReply,
      withLength((length) => length - 1),
    ),
    detectedBy: { "chat.minimal[plain]": "CHAT-1" },
  }),
  mutation("protocol.length-one-long", {
    breaks: [...LENGTH_REQUIREMENTS, "ANSWER-IN-TIME"],
    summary: "Content-Length of non-streaming chat replies is one byte too large.",
    apply: onParcel(
      chatReply,
      withLength((length) => length + 1),
    ),
  }),
  mutation("protocol.length-in-characters", {
    breaks: [...LENGTH_REQUIREMENTS, "CHAT-4", "JSON-UTF8", "TEXT-INTACT"],
    summary: "Content-Length counts characters instead of bytes.",
    apply: onParcel(both(chatReply, nonAscii), (parcel) =>
      parcel.body.kind === "whole"
        ? parcelHeader(LENGTH, String(parcel.body.bytes.toString("utf8").length))(parcel)
        : parcel,
    ),
    detectedBy: { "chat.conversation[non-streaming,non-ascii]": "CHAT-2" },
  }),
  ...grid(LENGTH_REQUIREMENTS, (edit: RawFormat) => sentRaw(chatReply, edit), {
    "protocol.two-lengths": {
      summary: "Non-streaming chat replies have two different lengths.",
      with: plainWith([LENGTH, "7"]),
      detectedBy: { "chat.minimal[plain]": "CHAT-1" },
    },
    "protocol.length-and-chunked": {
      summary: "Non-streaming chat replies are chunked and also have a length.",
      with: { ...CHUNKED, headers: (parcel) => [...parcel.headers, ["Transfer-Encoding", "chunked"]] },
      detectedBy: { "chat.minimal[plain]": "CHAT-1" },
    },
    "protocol.chunk-size-wrong": {
      summary: "The size of a chunk is one too large.",
      with: {
        ...CHUNKED,
        piece: (bytes) =>
          Buffer.concat([Buffer.from(`${(bytes.length + 1).toString(16)}\r\n`), bytes, Buffer.from("\r\n")]),
      },
    },
    "protocol.last-chunk-missing": { summary: "Chunked replies lack the last chunk.", with: { ...CHUNKED, last: "" } },
    "protocol.header-name-with-space": {
      breaks: ["HTTP-FRAMING", "CHAT-1", "CHAT-2"],
      summary: "One header name contains a space.",
      with: plainWith(["X Powered By", "gateway"]),
    },
    "protocol.header-with-line-break": {
      breaks: ["HTTP-FRAMING", "CHAT-1", "CHAT-2"],
      summary: "One header value continues on the next line.",
      with: plainWith(["X-Notice", "first line\r\n second line"]),
    },
  }),
  mutation("protocol.extra-bytes", {
    breaks: ["HTTP-KEEP-ALIVE", "AUTH-1", "HTTP-FRAMING"],
    summary: "Extra bytes follow each non-streaming chat reply on its connection.",
    apply: wrap("deliver", (next) => (parcel, call, delivery) => {
      const { socket } = delivery.response;
      if (chatReply(call)) delivery.response.once("finish", () => socket?.write("\r\nnull\r\n"));
      next(parcel, call, delivery);
    }),
  }),
  mutation("protocol.closes-without-saying", {
    breaks: ["HTTP-KEEP-ALIVE"],
    summary: "Connections are closed after a reply that promised keep-alive.",
    apply: wrap("deliver", (next) => (parcel, call, delivery) => {
      const { socket } = delivery.response;
      delivery.response.once("finish", () => socket?.end());
      next(parcel, call, delivery);
    }),
  }),
  mutation("protocol.closes-after-errors", {
    breaks: ["HTTP-KEEP-ALIVE"],
    summary: "Connections are reset after an error that promised keep-alive.",
    apply: wrap("deliver", (next) => (parcel, call, delivery) => {
      const { socket } = delivery.response;
      if (denied(call)) delivery.response.once("finish", () => setTimeout(() => socket?.resetAndDestroy(), 5));
      next(parcel, call, delivery);
    }),
  }),
  mutation("protocol.switches-uninvited", {
    breaks: ["HTTP-FRAMING", "CHAT-1", "CHAT-2"],
    summary: "Every chat reply is preceded by an unrequested 101.",
    apply: wrap("deliver", (next) => (parcel, call, delivery) => {
      if (chatReply(call)) delivery.response.socket?.write("HTTP/1.1 101 Switching Protocols\r\n\r\n");
      next(parcel, call, delivery);
    }),
  }),
  mutation("protocol.same-request-id", {
    breaks: ["COMPAT-REQUEST-ID"],
    summary: "Every response has the same request id.",
    apply: onParcel(always, (parcel) =>
      parcelHeader("Request-Id", "req_0")(parcelHeader("X-Request-Id", "req_0")(parcel)),
    ),
  }),
  mutation("protocol.bearer-in-header", {
    breaks: ["SEC-3", "NO-SECRETS"],
    summary: "A header of every response contains the caller's bearer token.",
    apply: onParcel(both(not(streaming), always), (parcel, call) =>
      parcelHeader("X-Debug-Auth", call.arrival.headers.authorization ?? "")(parcel),
    ),
  }),
];
