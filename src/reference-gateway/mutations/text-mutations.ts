import { loadMutation, type Mutation, mutation } from "../change.ts";
import { editText } from "../edits/replies/stream-edits.ts";
import { both, every, onChat, onMessages, streaming } from "../edits/when.ts";
import { type Apply, eachEvent, onEvents, onSteps } from "../edits/wrap.ts";

/** Drops the increments for which `lost` is true. */
const loses = (lost: (index: number, count: number) => boolean, when = onChat): Apply =>
  eachEvent(when, ["text"], (event, index, count) => (lost(index, count) ? undefined : event));

const textOf = (change: (text: string) => string, when = onChat): Apply =>
  eachEvent(when, ["text"], (event) => editText(event, change));

const TEXT = ["STREAM-4"];

const LAST_BEYOND_ASCII = /[\u0080-\u{10ffff}](?=[^\u0080-\u{10ffff}]*$)/u;

/** Corruptions of the text of a streamed reply. */
export const TEXT_MUTATIONS: readonly Mutation[] = [
  mutation(
    "text.first-piece-lost",
    TEXT,
    "The first delta of a stream is lost.",
    loses((index) => index === 0),
  ),
  mutation(
    "text.spaces-collapse",
    TEXT,
    "Runs of spaces collapse to one space in streams.",
    textOf((text) => text.replace(/ {2,}/g, " ")),
  ),
  mutation(
    "text.last-piece-lost",
    TEXT,
    "The last delta of a stream is lost.",
    loses((index, count) => index === count - 1),
  ),
  mutation(
    "text.middle-piece-lost",
    TEXT,
    "One delta in the middle of a stream is lost.",
    loses((index, count) => count > 2 && index === count >> 1),
  ),
  mutation(
    "text.late-piece-lost",
    TEXT,
    "The thirtieth delta of a stream is lost.",
    loses((index) => index === 29),
  ),
  mutation(
    "text.last-piece-lost-with-usage-option",
    [...TEXT, "COMPAT-CHAT-USAGE"],
    "The last delta of a stream is lost when usage is requested.",
    loses(
      (index, count) => index === count - 1,
      (call) => onChat(call) && call.request?.includeUsage === true,
    ),
  ),
  mutation(
    "text.last-piece-lost-on-messages",
    ["STREAM-4"],
    "The last delta of a stream is lost on the messages endpoint.",
    loses((index, count) => index === count - 1, onMessages),
  ),
  loadMutation(
    "text.piece-lost-now-and-then",
    TEXT,
    "Every tenth stream loses its second delta.",
    loses((index) => index === 1, every(10, both(onChat, streaming))),
  ),
  mutation(
    "text.piece-twice",
    TEXT,
    "One delta of a stream is sent twice.",
    eachEvent(onChat, ["text"], (event, index, count) => (index === count >> 1 ? [event, event] : event)),
  ),
  mutation(
    "text.pieces-swapped",
    TEXT,
    "Two neighbouring deltas of a stream are swapped.",
    onEvents(onChat, (events) => {
      const texts = events.filter((event) => event.kind === "text");
      const [one, other] = [texts[texts.length >> 1], texts[(texts.length >> 1) + 1]];
      if (one === undefined || other === undefined) return events;
      return events.map((event) =>
        event === one ? { ...other, atMs: one.atMs } : event === other ? { ...one, atMs: other.atMs } : event,
      );
    }),
  ),
  mutation(
    "text.starts-again",
    TEXT,
    "Halfway through, the stream repeats its deltas from the first one.",
    onEvents(onChat, (events) => {
      const texts = events.filter((event) => event.kind === "text");
      const middle = texts[texts.length >> 1];
      if (middle === undefined || texts.length < 4) return events;
      const again = texts.slice(0, texts.length >> 1).map((event) => ({ ...event, atMs: middle.atMs }));
      return events.flatMap((event) => (event === middle ? [...again, event] : [event]));
    }),
  ),
  mutation(
    "text.characters-cut",
    // Not JSON-UTF8: the reply is valid UTF-8.
    ["STREAM-4", "TEXT-INTACT"],
    "Non-ASCII characters are split between deltas and become replacement characters.",
    textOf((text) => text.replace(LAST_BEYOND_ASCII, "\ufffd\ufffd")),
  ),
  mutation(
    "text.invalid-utf8",
    ["STREAM-4", "JSON-UTF8", "TEXT-INTACT"],
    "The last byte of some characters is lost, so the stream is not valid UTF-8.",
    onSteps(onChat, (steps) =>
      steps.map((step) => {
        const bytes = Buffer.from(step.bytes as Uint8Array);
        const lead = bytes.findIndex((byte) => byte >= 0xc2);
        return lead < 0
          ? step
          : { ...step, bytes: Buffer.concat([bytes.subarray(0, lead + 1), bytes.subarray(lead + 2)]) };
      }),
    ),
  ),
  mutation(
    "text.latin1-on-stream",
    // Not JSON-UTF8: the reply is valid UTF-8.
    ["STREAM-4", "TEXT-INTACT"],
    "Streams are decoded as Latin-1: one character becomes several.",
    textOf((text) => Buffer.from(text, "utf8").toString("latin1")),
  ),
  mutation(
    "text.four-byte-characters-lost",
    TEXT,
    "Four-byte characters (emoji) are dropped from streams.",
    textOf((text) => text.replace(/[\u{10000}-\u{10ffff}]/gu, "")),
  ),
  mutation(
    "text.spaces-trimmed",
    TEXT,
    "Deltas are trimmed, so words run together.",
    textOf((text) => text.trim()),
  ),
  mutation(
    "text.double-spaces-joined",
    TEXT,
    "Runs of white space collapse to one space in streams.",
    textOf((text) => text.replace(/\s+/g, " ")),
  ),
  mutation(
    "text.markup-escaped",
    TEXT,
    "Angle brackets and ampersands are HTML-escaped in streams.",
    textOf((text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")),
  ),
  mutation(
    "text.backslashes-doubled",
    TEXT,
    "Text in streams is escaped twice: line breaks and quotes arrive with backslashes.",
    textOf((text) => JSON.stringify(text).slice(1, -1)),
  ),
  mutation(
    "text.normalised",
    TEXT,
    "Streams use a different Unicode normalisation form than non-streaming replies.",
    textOf((text) => text.normalize("NFD")),
  ),
  mutation(
    "text.first-piece-in-capitals",
    TEXT,
    "The first delta of a stream is in upper case.",
    eachEvent(onChat, ["text"], (event, index) =>
      index === 0 ? editText(event, (text) => text.toUpperCase()) : event,
    ),
  ),
  mutation(
    "text.stops-at-newline",
    TEXT,
    "Streams end at the first empty line of their text.",
    onEvents(onChat, (events) => {
      const at = events.findIndex((event) => event.kind === "text" && JSON.stringify(event.data).includes("\\n\\n"));
      return at < 0 ? events : events.filter((event, index) => event.kind !== "text" || index < at);
    }),
  ),
];
