import { gzipSync } from "node:zlib";
import { type Mutation, mutation } from "../change.ts";
import { parcelBytes, parcelHeader, parcelWithout } from "../edits/replies/response-edits.ts";
import { chatReply, nonStreamingReply } from "../edits/reply-kinds.ts";
import { both, longBody } from "../edits/when.ts";
import { onParcel, wrap } from "../edits/wrap.ts";
import { encodeAs } from "../encode/compress.ts";
import { headerOf } from "../pipeline/response.ts";

const LENGTH = "Content-Length";

const LENGTH_REQUIREMENTS = ["HTTP-FRAMING", "CHAT-1", "CHAT-2", "ERR-200-1"];
const CODING_REQUIREMENTS = ["HTTP-CODING", "CHAT-1", "CHAT-2", "ERR-200-1"];

/** Content codings and their labels. */
export const CODING_MUTATIONS: readonly Mutation[] = [
  mutation(
    "protocol.length-of-compressed",
    [...LENGTH_REQUIREMENTS, "HTTP-CODING"],
    "Content-Length of a compressed reply is the uncompressed length.",
    wrap("seal", (next) => (response, call) => {
      const parcel = next(response, call);
      if (
        !chatReply(call) ||
        headerOf(parcel.headers, "Content-Encoding") === undefined ||
        response.body.kind !== "json"
      )
        return parcel;
      return parcelHeader(LENGTH, String(Buffer.byteLength(call.behaviour.json(response.body.value, call))))(parcel);
    }),
  ),
  mutation(
    "protocol.gzip-unlabelled",
    CODING_REQUIREMENTS,
    "Compressed replies have no Content-Encoding.",
    onParcel(nonStreamingReply, parcelWithout("Content-Encoding")),
  ),
  mutation(
    "protocol.gzip-label-on-plain",
    CODING_REQUIREMENTS,
    "Uncompressed replies are labelled as gzip if the client accepts it.",
    wrap(
      "compress",
      (next) => (bytes, call) =>
        nonStreamingReply(call) && next(bytes, call).coding !== undefined
          ? { bytes, coding: "gzip" }
          : next(bytes, call),
    ),
  ),
  mutation(
    "protocol.br-labelled-gzip",
    CODING_REQUIREMENTS,
    "Brotli is labelled as gzip.",
    wrap(
      "compress",
      (next) => (bytes, call) =>
        next(bytes, call).coding === undefined ? { bytes } : { bytes: encodeAs("br", bytes), coding: "gzip" },
    ),
  ),
  mutation(
    "protocol.gzip-cut",
    CODING_REQUIREMENTS,
    "Compressed replies lack their last bytes.",
    onParcel(nonStreamingReply, (parcel) =>
      headerOf(parcel.headers, "Content-Encoding") === undefined
        ? parcel
        : parcelBytes((bytes) => bytes.subarray(0, -6))(parcel, undefined as never),
    ),
  ),
  mutation(
    "protocol.gzip-twice",
    CODING_REQUIREMENTS,
    "Replies of more than four kilobytes are compressed twice.",
    onParcel(both(nonStreamingReply, longBody), (parcel) =>
      headerOf(parcel.headers, "Content-Encoding") === undefined
        ? parcel
        : parcelBytes((bytes) => gzipSync(bytes))(parcel, undefined as never),
    ),
  ),
];
