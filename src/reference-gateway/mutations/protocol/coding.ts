import { gzipSync } from "node:zlib";
import { type Mutation, mutation } from "../../change.ts";
import { parcelBytes, parcelHeader, parcelWithout } from "../../edits/replies/response-edits.ts";
import { chatReply, nonStreamingReply } from "../../edits/reply-kinds.ts";
import { both, longBody } from "../../edits/when.ts";
import { onParcel, wrap } from "../../edits/wrap.ts";
import { encodeAs } from "../../encode/compress.ts";
import { headerOf } from "../../pipeline/response.ts";

const LENGTH = "Content-Length";

const LENGTH_REQUIREMENTS = ["HTTP-FRAMING", "CHAT-1", "CHAT-2", "ERR-200-1"];
const CODING_REQUIREMENTS = ["HTTP-CODING", "CHAT-1", "CHAT-2", "ERR-200-1"];

/** Content codings and their labels. */
export const CODING_MUTATIONS: readonly Mutation[] = [
  mutation("protocol.length-of-compressed", {
    breaks: [...LENGTH_REQUIREMENTS, "HTTP-CODING"],
    summary: "Content-Length of a compressed reply is the uncompressed length.",
    apply: wrap("seal", (next) => (response, call) => {
      const parcel = next(response, call);
      if (
        !chatReply(call) ||
        headerOf(parcel.headers, "Content-Encoding") === undefined ||
        response.body.kind !== "json"
      )
        return parcel;
      return parcelHeader(LENGTH, String(Buffer.byteLength(call.behaviour.json(response.body.value, call))))(parcel);
    }),
  }),
  mutation("protocol.gzip-unlabelled", {
    breaks: CODING_REQUIREMENTS,
    summary: "Compressed replies have no Content-Encoding.",
    apply: onParcel(nonStreamingReply, parcelWithout("Content-Encoding")),
  }),
  mutation("protocol.gzip-label-on-plain", {
    breaks: CODING_REQUIREMENTS,
    summary: "Uncompressed replies are labelled as gzip if the client accepts it.",
    apply: wrap(
      "compress",
      (next) => (bytes, call) =>
        nonStreamingReply(call) && next(bytes, call).coding !== undefined
          ? { bytes, coding: "gzip" }
          : next(bytes, call),
    ),
  }),
  mutation("protocol.br-labelled-gzip", {
    breaks: CODING_REQUIREMENTS,
    summary: "Brotli is labelled as gzip.",
    apply: wrap(
      "compress",
      (next) => (bytes, call) =>
        next(bytes, call).coding === undefined ? { bytes } : { bytes: encodeAs("br", bytes), coding: "gzip" },
    ),
  }),
  mutation("protocol.gzip-cut", {
    breaks: CODING_REQUIREMENTS,
    summary: "Compressed replies lack their last bytes.",
    apply: onParcel(nonStreamingReply, (parcel) =>
      headerOf(parcel.headers, "Content-Encoding") === undefined
        ? parcel
        : parcelBytes((bytes) => bytes.subarray(0, -6))(parcel, undefined as never),
    ),
  }),
  mutation("protocol.gzip-twice", {
    breaks: CODING_REQUIREMENTS,
    summary: "Replies of more than four kilobytes are compressed twice.",
    apply: onParcel(both(nonStreamingReply, longBody), (parcel) =>
      headerOf(parcel.headers, "Content-Encoding") === undefined
        ? parcel
        : parcelBytes((bytes) => gzipSync(bytes))(parcel, undefined as never),
    ),
  }),
];
