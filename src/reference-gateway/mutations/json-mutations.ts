import { type Mutation, mutation } from "../change.ts";
import { parcelBytes } from "../edits/replies/response-edits.ts";
import { chatReply } from "../edits/reply-kinds.ts";
import { both, nonAscii, onModels, type When } from "../edits/when.ts";
import { type Apply, onParcel, wrap } from "../edits/wrap.ts";

/** Changes the text of JSON bodies. */
const jsonText = (when: When, change: (text: string) => string): Apply =>
  wrap("json", (next) => (value, call) => {
    const text = next(value, call);
    return when(call) ? change(text) : text;
  });

const JSON_REQUIREMENTS = ["JSON-TEXT", "CHAT-1", "CHAT-2", "ERR-200-1"];

/** JSON syntax and character encoding. */
export const JSON_MUTATIONS: readonly Mutation[] = [
  mutation(
    "protocol.json-trailing-comma",
    JSON_REQUIREMENTS,
    "JSON of non-streaming chat replies has a trailing comma.",
    jsonText(chatReply, (text) => text.replace(/\}$/, ",}")),
  ),
  mutation(
    "protocol.json-bare-newlines",
    [...JSON_REQUIREMENTS, "CHAT-4"],
    "Line breaks inside JSON strings are not escaped.",
    jsonText(chatReply, (text) => text.replaceAll("\\n", "\n")),
  ),
  mutation(
    "protocol.json-bare-quotes",
    [...JSON_REQUIREMENTS, "CHAT-4"],
    "Quotes inside JSON strings are not escaped.",
    jsonText(chatReply, (text) => text.replaceAll('\\"', '"')),
  ),
  mutation(
    "protocol.json-hex-escapes",
    [...JSON_REQUIREMENTS, "CHAT-4"],
    "Non-ASCII characters have escapes that JSON does not allow.",
    jsonText(chatReply, (text) =>
      text.replace(/[\u0080-\u00ff]/g, (letter) => `\\x${letter.charCodeAt(0).toString(16)}`),
    ),
  ),
  mutation(
    "protocol.json-single-quotes",
    ["JSON-TEXT", "MODELS-1"],
    "The model list is JSON with single quotes.",
    jsonText(onModels, (text) => text.replaceAll('"', "'")),
  ),
  mutation(
    "protocol.json-nan",
    JSON_REQUIREMENTS,
    "A token count is NaN.",
    jsonText(chatReply, (text) => text.replace(/"total_tokens":\d+/, '"total_tokens":NaN')),
  ),
  mutation(
    "protocol.json-byte-order-mark",
    ["JSON-TEXT", "CHAT-1", "CHAT-2"],
    "JSON begins with a byte order mark.",
    jsonText(chatReply, (text) => `\ufeff${text}`),
  ),
  mutation(
    "protocol.json-twice",
    JSON_REQUIREMENTS,
    "Non-streaming chat replies are sent twice in one body.",
    jsonText(chatReply, (text) => `${text}\n${text}`),
  ),
  mutation(
    "protocol.json-with-prefix",
    JSON_REQUIREMENTS,
    "JSON begins with an anti-hijacking prefix.",
    jsonText(chatReply, (text) => `)]}',\n${text}`),
  ),
  mutation(
    "protocol.utf16",
    ["JSON-UTF8", "TEXT-INTACT", ...JSON_REQUIREMENTS],
    "Non-streaming chat replies with non-ASCII text are UTF-16.",
    onParcel(
      both(chatReply, nonAscii),
      parcelBytes((bytes) => Buffer.from(bytes.toString("utf8"), "utf16le")),
    ),
  ),
  mutation(
    "protocol.latin1",
    ["JSON-UTF8", "TEXT-INTACT", "CHAT-2", "CHAT-4", "STREAM-4"],
    "Non-streaming chat replies are encoded as Latin-1.",
    onParcel(
      chatReply,
      parcelBytes((bytes) => Buffer.from(bytes.toString("utf8"), "latin1")),
    ),
  ),
  mutation(
    "protocol.mojibake",
    // Not JSON-UTF8: the reply is valid UTF-8, but not the provider's text.
    ["UPSTREAM-REPLY", "TEXT-INTACT", "STREAM-4"],
    "Non-streaming chat replies are UTF-8 encoded twice.",
    jsonText(chatReply, (text) => Buffer.from(text, "utf8").toString("latin1")),
  ),
  mutation(
    "protocol.emoji-as-question-marks",
    // Not JSON-UTF8: the reply is valid UTF-8, but not the provider's text.
    ["UPSTREAM-REPLY", "TEXT-INTACT", "STREAM-4"],
    "Four-byte characters become question marks in non-streaming chat replies.",
    jsonText(chatReply, (text) => text.replace(/[\u{10000}-\u{10ffff}]/gu, "?")),
  ),
];
