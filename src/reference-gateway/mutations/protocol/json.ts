import { grid, type Mutation, mutation } from "../../change.ts";
import { parcelBytes } from "../../edits/replies/response-edits.ts";
import { chatReply } from "../../edits/reply-kinds.ts";
import { both, nonAscii, onModels, type When } from "../../edits/when.ts";
import { type Apply, onParcel, wrap } from "../../edits/wrap.ts";

/** Changes the text of JSON bodies. */
const jsonText = (when: When, change: (text: string) => string): Apply =>
  wrap("json", (next) => (value, call) => {
    const text = next(value, call);
    return when(call) ? change(text) : text;
  });

const JSON_REQUIREMENTS = ["JSON-TEXT", "CHAT-1", "CHAT-2", "ERR-200-1"];

/** JSON syntax and character encoding. */
export const JSON_MUTATIONS: readonly Mutation[] = [
  ...grid(JSON_REQUIREMENTS, (edit: (text: string) => string) => jsonText(chatReply, edit), {
    "protocol.json-trailing-comma": {
      summary: "JSON of non-streaming chat replies has a trailing comma.",
      with: (text) => text.replace(/\}$/, ",}"),
    },
    "protocol.json-bare-newlines": {
      breaks: [...JSON_REQUIREMENTS, "CHAT-4"],
      summary: "Line breaks inside JSON strings are not escaped.",
      with: (text) => text.replaceAll("\\n", "\n"),
    },
    "protocol.json-bare-quotes": {
      breaks: [...JSON_REQUIREMENTS, "CHAT-4"],
      summary: "Quotes inside JSON strings are not escaped.",
      with: (text) => text.replaceAll('\\"', '"'),
    },
    "protocol.json-hex-escapes": {
      breaks: [...JSON_REQUIREMENTS, "CHAT-4"],
      summary: "Non-ASCII characters have escapes that JSON does not allow.",
      with: (text) => text.replace(/[\u0080-\u00ff]/g, (letter) => `\\x${letter.charCodeAt(0).toString(16)}`),
    },
    "protocol.json-nan": {
      summary: "A token count is NaN.",
      with: (text) => text.replace(/"total_tokens":\d+/, '"total_tokens":NaN'),
    },
    "protocol.json-byte-order-mark": {
      breaks: ["JSON-TEXT", "CHAT-1", "CHAT-2"],
      summary: "JSON begins with a byte order mark.",
      with: (text) => `\ufeff${text}`,
    },
    "protocol.json-twice": {
      summary: "Non-streaming chat replies are sent twice in one body.",
      with: (text) => `${text}\n${text}`,
    },
    "protocol.json-with-prefix": {
      summary: "JSON begins with an anti-hijacking prefix.",
      with: (text) => `)]}',\n${text}`,
    },
    "protocol.mojibake": {
      // Not JSON-UTF8: the reply is valid UTF-8, but not the provider's text.
      breaks: ["UPSTREAM-REPLY", "TEXT-INTACT", "STREAM-4"],
      summary: "Non-streaming chat replies are UTF-8 encoded twice.",
      with: (text) => Buffer.from(text, "utf8").toString("latin1"),
    },
    "protocol.emoji-as-question-marks": {
      // Not JSON-UTF8: the reply is valid UTF-8, but not the provider's text.
      breaks: ["UPSTREAM-REPLY", "TEXT-INTACT", "STREAM-4"],
      summary: "Four-byte characters become question marks in non-streaming chat replies.",
      with: (text) => text.replace(/[\u{10000}-\u{10ffff}]/gu, "?"),
    },
  }),
  mutation("protocol.json-single-quotes", {
    breaks: ["JSON-TEXT", "MODELS-1"],
    summary: "The model list is JSON with single quotes.",
    apply: jsonText(onModels, (text) => text.replaceAll('"', "'")),
  }),
  mutation("protocol.utf16", {
    breaks: ["JSON-UTF8", "TEXT-INTACT", ...JSON_REQUIREMENTS],
    summary: "Non-streaming chat replies with non-ASCII text are UTF-16.",
    apply: onParcel(
      both(chatReply, nonAscii),
      parcelBytes((bytes) => Buffer.from(bytes.toString("utf8"), "utf16le")),
    ),
  }),
  mutation("protocol.latin1", {
    breaks: ["JSON-UTF8", "TEXT-INTACT", "CHAT-2", "CHAT-4", "STREAM-4"],
    summary: "Non-streaming chat replies are encoded as Latin-1.",
    apply: onParcel(
      chatReply,
      parcelBytes((bytes) => Buffer.from(bytes.toString("utf8"), "latin1")),
    ),
  }),
];
