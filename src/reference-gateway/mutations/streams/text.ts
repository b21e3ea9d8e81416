import { grid, loadMutation, type Mutation, mutation } from "../../change.ts";
import { editText } from "../../edits/replies/stream-edits.ts";
import { both, every, onChat, onMessages, streaming } from "../../edits/when.ts";
import { type Apply, type EventsEdit, eachEvent, onEvents, onSteps } from "../../edits/wrap.ts";

/** Drops the increments for which `lost` is true. */
const loses = (lost: (index: number, count: number) => boolean, when = onChat): Apply =>
  eachEvent(when, ["text"], (event, index, count) => (lost(index, count) ? undefined : event));

const textOf = (change: (text: string) => string, when = onChat): Apply =>
  eachEvent(when, ["text"], (event) => editText(event, change));

const TEXT = ["STREAM-4"];

const LAST_BEYOND_ASCII = /[\u0080-\u{10ffff}](?=[^\u0080-\u{10ffff}]*$)/u;

/** Corruptions of the text of a streamed reply. */
export const TEXT_MUTATIONS: readonly Mutation[] = [
  ...grid(TEXT, loses, {
    "text.first-piece-lost": {
      summary: "The first delta of a stream is lost.",
      with: (index) => index === 0,
      detectedBy: { "streaming.text-intact[chat,short]": "STREAM-4" },
    },
    "text.last-piece-lost": {
      summary: "The last delta of a stream is lost.",
      with: (index, count) => index === count - 1,
      detectedBy: { "streaming.text-intact[chat,short]": "STREAM-4" },
    },
    "text.middle-piece-lost": {
      summary: "One delta in the middle of a stream is lost.",
      with: (index, count) => count > 2 && index === count >> 1,
      detectedBy: { "streaming.text-intact[chat,short]": "STREAM-4" },
    },
    "text.late-piece-lost": {
      summary: "The thirtieth delta of a stream is lost.",
      with: (index) => index === 29,
      detectedBy: { "streaming.text-intact[chat,long]": "STREAM-4" },
    },
  }),
  ...grid(TEXT, textOf, {
    "text.spaces-collapse": {
      summary: "Runs of spaces collapse to one space in streams.",
      with: (text) => text.replace(/ {2,}/g, " "),
    },
    "text.characters-cut": {
      // Not JSON-UTF8: the reply is valid UTF-8.
      breaks: ["STREAM-4", "TEXT-INTACT"],
      summary: "Non-ASCII characters are split between deltas and become replacement characters.",
      with: (text) => text.replace(LAST_BEYOND_ASCII, "\ufffd\ufffd"),
    },
    "text.latin1-on-stream": {
      // Not JSON-UTF8: the reply is valid UTF-8.
      breaks: ["STREAM-4", "TEXT-INTACT"],
      summary: "Streams are decoded as Latin-1: one character becomes several.",
      with: (text) => Buffer.from(text, "utf8").toString("latin1"),
    },
    "text.four-byte-characters-lost": {
      summary: "Four-byte characters (emoji) are dropped from streams.",
      with: (text) => text.replace(/[\u{10000}-\u{10ffff}]/gu, ""),
    },
    "text.spaces-trimmed": { summary: "Deltas are trimmed, so words run together.", with: (text) => text.trim() },
    "text.double-spaces-joined": {
      summary: "Runs of white space collapse to one space in streams.",
      with: (text) => text.replace(/\s+/g, " "),
    },
    "text.markup-escaped": {
      summary: "Angle brackets and ampersands are HTML-escaped in streams.",
      with: (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
    },
    "text.backslashes-doubled": {
      summary: "Text in streams is escaped twice: line breaks and quotes arrive with backslashes.",
      with: (text) => JSON.stringify(text).slice(1, -1),
    },
    "text.normalised": {
      summary: "Streams use a different Unicode normalisation form than non-streaming replies.",
      with: (text) => text.normalize("NFD"),
    },
  }),
  mutation("text.last-piece-lost-with-usage-option", {
    breaks: [...TEXT, "COMPAT-CHAT-USAGE"],
    summary: "The last delta of a stream is lost when usage is requested.",
    apply: loses(
      (index, count) => index === count - 1,
      (call) => onChat(call) && call.request?.includeUsage === true,
    ),
    detectedBy: { "compat.chat-stream-usage": "COMPAT-CHAT-USAGE" },
  }),
  mutation("text.last-piece-lost-on-messages", {
    breaks: TEXT,
    summary: "The last delta of a stream is lost on the messages endpoint.",
    apply: loses((index, count) => index === count - 1, onMessages),
  }),
  loadMutation("text.piece-lost-now-and-then", {
    breaks: TEXT,
    summary: "Every tenth stream loses its second delta.",
    apply: loses((index) => index === 1, every(10, both(onChat, streaming))),
    mayBreak: ["SAME-REQUEST"],
  }),
  mutation("text.piece-twice", {
    breaks: TEXT,
    summary: "One delta of a stream is sent twice.",
    apply: eachEvent(onChat, ["text"], (event, index, count) => (index === count >> 1 ? [event, event] : event)),
  }),
  ...grid(TEXT, (edit: EventsEdit) => onEvents(onChat, edit), {
    "text.pieces-swapped": {
      summary: "Two neighbouring deltas of a stream are swapped.",
      with: (events) => {
        const texts = events.filter((event) => event.kind === "text");
        const [one, other] = [texts[texts.length >> 1], texts[(texts.length >> 1) + 1]];
        if (one === undefined || other === undefined) return events;
        return events.map((event) =>
          event === one ? { ...other, atMs: one.atMs } : event === other ? { ...one, atMs: other.atMs } : event,
        );
      },
    },
    "text.starts-again": {
      summary: "Halfway through, the stream repeats its deltas from the first one.",
      with: (events) => {
        const texts = events.filter((event) => event.kind === "text");
        const middle = texts[texts.length >> 1];
        if (middle === undefined || texts.length < 4) return events;
        const again = texts.slice(0, texts.length >> 1).map((event) => ({ ...event, atMs: middle.atMs }));
        return events.flatMap((event) => (event === middle ? [...again, event] : [event]));
      },
    },
    "text.stops-at-newline": {
      summary: "Streams end at the first empty line of their text.",
      with: (events) => {
        const at = events.findIndex((event) => event.kind === "text" && JSON.stringify(event.data).includes("\\n\\n"));
        return at < 0 ? events : events.filter((event, index) => event.kind !== "text" || index < at);
      },
    },
  }),
  mutation("text.invalid-utf8", {
    breaks: ["STREAM-4", "JSON-UTF8", "TEXT-INTACT"],
    summary: "The last byte of some characters is lost, so the stream is not valid UTF-8.",
    apply: onSteps(onChat, (steps) =>
      steps.map((step) => {
        const bytes = Buffer.from(step.bytes as Uint8Array);
        const lead = bytes.findIndex((byte) => byte >= 0xc2);
        return lead < 0
          ? step
          : { ...step, bytes: Buffer.concat([bytes.subarray(0, lead + 1), bytes.subarray(lead + 2)]) };
      }),
    ),
  }),
  mutation("text.first-piece-in-capitals", {
    breaks: TEXT,
    summary: "The first delta of a stream is in upper case.",
    apply: eachEvent(onChat, ["text"], (event, index) =>
      index === 0 ? editText(event, (text) => text.toUpperCase()) : event,
    ),
  }),
];
