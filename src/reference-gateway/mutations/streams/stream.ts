import { grid, loadMutation, type Mutation, mutation } from "../../change.ts";
import { allAtTheEnd, inBlocksOf, laterFrom, oneEventPerText } from "../../edits/replies/stream-edits.ts";
import { streamForced, streamIgnored } from "../../edits/stream-or-not.ts";
import {
  both,
  every,
  nonAscii,
  onChat,
  onMessages,
  reused,
  secondKey,
  streaming,
  type When,
} from "../../edits/when.ts";
import {
  type Apply,
  all,
  type EventsEdit,
  eachEvent,
  endingAs,
  onEvents,
  onServed,
  onSteps,
  type StepsEdit,
  wrap,
} from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import type { GatewayResponse, Step, StreamEvent } from "../../pipeline/response.ts";

const chatStream: When = both(onChat, streaming);
const acceptsGzip: When = (call) => /gzip|br/.test(String(call.arrival.headers["accept-encoding"] ?? ""));
const usageRequested: When = (call) => call.request?.includeUsage === true && onChat(call);
const halfway = (steps: readonly Step[]) => Math.floor(steps.length / 2);

/** Cuts the stream after this many milliseconds. */
const cutAfter = (ms: number, when: When): Apply =>
  all(
    onEvents(when, (events) => events.filter((event) => event.atMs < ms)),
    onServed(when, (response: GatewayResponse, call: Call): GatewayResponse => {
      const long = call.plan?.kind === "reply" && call.plan.firstMs + call.plan.pieces.length * call.plan.paceMs > ms;
      return long && response.body.kind === "events"
        ? { ...response, body: { ...response.body, ending: "abort" } }
        : response;
    }),
  );

const isLong = ({ data }: StreamEvent, bytes = 65_536) => JSON.stringify(data).length > bytes;

/** Pieces of a paced text, and their total duration, ms. */
const LONG_PIECES = 100;
const LONG_MS = 400;

/** How a stream arrives and ends. */
export const STREAM_MUTATIONS: readonly Mutation[] = [
  ...grid(["STREAM-1"], (edit: StepsEdit) => onSteps(onChat, edit), {
    "stream.buffered": { summary: "The whole stream is buffered until it is complete.", with: allAtTheEnd },
    "stream.buffered-in-16k": {
      summary: "The stream goes through a 16 KB buffer.",
      with: (steps) => inBlocksOf(16_384, steps),
    },
    "stream.ends-late": {
      breaks: ["STREAM-3"],
      summary: "The response of a stream stays open for half a minute after its last event.",
      with: (steps) => [...steps, { atMs: (steps.at(-1)?.atMs ?? 0) + 30_000, bytes: "", tokens: 0 }],
    },
    "stream.stalls-in-the-middle": {
      // Not STREAM-1: the reply still arrives in pieces.
      breaks: ["STREAM-3", "CHAT-4"],
      summary: "The stream stalls halfway for more than a minute.",
      with: (steps) => laterFrom(halfway(steps), 75_000, steps),
    },
    "stream.stalls-before-end": {
      breaks: ["STREAM-3"],
      summary: "The last event is more than a minute late.",
      with: (steps) => laterFrom(steps.length - 1, 75_000, steps),
    },
  }),
  ...grid(["STREAM-1"], (when: When) => onSteps(when, allAtTheEnd), {
    "stream.buffered-on-reused-connections": {
      summary: "Streams on a reused connection are buffered until they are complete.",
      with: both(onChat, reused),
    },
    "stream.buffered-when-compression-is-accepted": {
      summary: "Streams to clients that accept compression are buffered until they are complete.",
      with: both(onChat, acceptsGzip),
    },
    "stream.buffered-for-second-key": {
      summary: "Streams of an account's second key are buffered until they are complete.",
      with: both(onChat, secondKey),
    },
  }),
  mutation("stream.buffered-beyond-ascii", {
    breaks: ["STREAM-1"],
    summary: "Long texts arrive at an even pace; non-ASCII streams are buffered until they are complete.",
    apply: all(
      wrap("plan", (next) => (model, request, call) => {
        const plan = next(model, request, call);
        const isLong = plan.kind === "reply" && plan.paceMs === 0 && plan.pieces.length > LONG_PIECES;
        return isLong ? { ...plan, paceMs: LONG_MS / plan.pieces.length } : plan;
      }),
      onSteps(both(chatStream, nonAscii), allAtTheEnd),
    ),
    shownBy: "checks",
  }),
  ...grid(["STREAM-3"], (when: When) => endingAs("hang", when), {
    "stream.hangs-when-the-client-leaves": {
      summary: "A stream to a client that sends Connection: close never ends.",
      with: both(streaming, ({ arrival }) => String(arrival.headers.connection).includes("close")),
    },
    "stream.never-ends": { summary: "The response of a stream is never finished.", with: chatStream },
    "stream.never-ends-with-usage-option": {
      breaks: ["STREAM-3", "COMPAT-CHAT-USAGE"],
      summary: "The response of a stream is never finished when usage is requested.",
      with: usageRequested,
    },
    "stream.never-ends-after-error": {
      breaks: ["STREAM-3", "COMPAT-STREAM-ERROR"],
      summary: "The response stays open after an error event.",
      with: (call) => call.plan?.kind === "reply" && call.plan.breaksAfter !== undefined,
    },
  }),
  ...grid(["STREAM-1"], (edit: EventsEdit) => onEvents(onChat, edit), {
    "stream.one-piece-at-the-end": {
      summary: "The stream is a single event with the whole text, sent when it is complete.",
      with: (events) => {
        const endMs = events.at(-1)?.atMs ?? 0;
        const texts = events.filter((event) => event.kind === "text");
        const joined = texts
          .map((event) =>
            String((event.data as { choices: { delta: { content: string } }[] }).choices[0]?.delta.content),
          )
          .join("");
        return events.flatMap((event) => {
          if (event.kind !== "text") return [{ ...event, atMs: endMs }];
          if (event !== texts[0]) return [];
          const data = event.data as { choices: object[] };
          return [
            { ...event, atMs: endMs, data: { ...data, choices: [{ ...data.choices[0], delta: { content: joined } }] } },
          ];
        });
      },
    },
    "stream.empty": {
      breaks: ["BASE-3", "STREAM-1", "STREAM-4"],
      summary: "Streams have no body at all.",
      with: () => [],
      detectedBy: { "service.replies[chat,streaming]": "BASE-3" },
    },
    "stream.ends-quietly-after-a-second": {
      breaks: ["STREAM-4"],
      summary: "Streams end after one second as if they were complete.",
      with: (events) =>
        events
          .filter((event) => event.kind !== "text" || event.atMs < 1_000)
          .map((event) => ({ ...event, atMs: Math.min(event.atMs, 1_000) })),
      shownBy: ["lasting"],
    },
  }),
  ...grid(["STREAM-1", "BASE-3"], streamIgnored, {
    "stream.ignored": { summary: "stream is ignored: the reply is one JSON document.", with: onChat },
    "stream.overlooked-behind-long-bodies": {
      breaks: ["SAME-REQUEST", "STREAM-1"],
      summary: "stream is ignored after the first two thousand characters of the body.",
      with: (call) => call.bodyText.indexOf('"stream"') > 2_000,
    },
    "stream.ignored-with-usage-option": {
      breaks: ["STREAM-1", "COMPAT-CHAT-USAGE"],
      summary: "stream is ignored when usage is requested.",
      with: (call) => onChat(call) && "stream_options" in (call.parsed as object),
      detectedBy: { "compat.chat-stream-usage": "COMPAT-CHAT-USAGE" },
    },
  }),
  ...grid(["CHAT-7", "CHAT-2", "CHAT-3", "ERR-200-1"], streamForced, {
    "stream.forced-when-false": {
      summary: "The reply is a stream although stream is false.",
      with: (call) => onChat(call) && (call.parsed as { stream?: unknown }).stream === false,
      mayBreak: ["CHAT-1"],
      detectedBy: { "chat.non-streaming[false]": "CHAT-7" },
    },
    "stream.forced-when-absent": {
      breaks: ["CHAT-7", "CHAT-1", "CHAT-2", "CHAT-3", "CHAT-4", "BASE-2", "BASE-3", "ERR-200-1"],
      summary: "The reply is a stream although stream is absent.",
      with: (call) => onChat(call) && (call.parsed as { stream?: unknown }).stream === undefined,
      detectedBy: { "chat.minimal[plain]": "CHAT-1" },
    },
    "stream.forced-by-slow-model": {
      breaks: ["CHAT-7", "CHAT-1", "CHAT-2", "CHAT-3", "ERR-200-1"],
      summary: "A slow model always streams, even when stream is absent.",
      with: (call) => onChat(call) && (call.parsed as { model?: unknown }).model === "slow",
      shownBy: "checks",
    },
    "stream.forced-by-slow-model-on-messages": {
      breaks: ["MSG-2", "MSG-1", "MSG-3", "ERR-200-1"],
      summary: "A slow model always streams on the messages endpoint, even when stream is absent.",
      with: (call) => onMessages(call) && (call.parsed as { model?: unknown }).model === "slow",
      shownBy: "checks",
    },
  }),
  mutation("stream.no-text", {
    breaks: ["BASE-3", "STREAM-1", "STREAM-4"],
    summary: "Streams start and end normally but have no text.",
    apply: eachEvent(onChat, ["text"], () => undefined),
    detectedBy: { "service.replies[chat,streaming]": "BASE-3" },
  }),
  mutation("stream.aborts-at-end", {
    breaks: ["STREAM-3"],
    summary: "The connection is closed instead of finishing the response.",
    apply: endingAs("abort", chatStream),
  }),
  mutation("stream.resets-at-end", {
    breaks: ["STREAM-3"],
    summary: "The connection is reset instead of finishing the response.",
    apply: endingAs(
      "reset",
      both(chatStream, (call) => call.plan?.kind === "reply" && call.plan.breaksAfter === undefined),
    ),
  }),
  mutation("stream.cut-after-a-second", {
    breaks: ["HTTP-FRAMING", "STREAM-3", "STREAM-4"],
    summary: "Healthy streams are cut off after one second.",
    apply: cutAfter(1_000, chatStream),
    shownBy: ["lasting"],
  }),
  loadMutation("stream.cut-now-and-then", {
    breaks: ["HTTP-FRAMING", "STREAM-3", "STREAM-4"],
    summary: "Every twentieth stream is cut off halfway.",
    apply: (behaviour) => {
      const unlucky = every(20, chatStream);
      return all(
        onSteps(unlucky, (steps) => steps.slice(0, halfway(steps))),
        endingAs("abort", unlucky),
      )(behaviour);
    },
  }),
  loadMutation("stream.ends-early-now-and-then", {
    breaks: ["STREAM-4"],
    summary: "Every twentieth stream silently ends halfway.",
    apply: onSteps(every(20, chatStream), (steps) => steps.slice(0, halfway(steps))),
    mayBreak: ["SAME-REQUEST"],
  }),
  mutation("stream.long-event-ends-it", {
    breaks: ["STREAM-4", "TEXT-INTACT"],
    summary: "Short replies are one event, and a stream ends at an event longer than 64 KiB.",
    apply: all(
      oneEventPerText,
      onEvents(streaming, (events) => {
        const long = events.findIndex((event) => isLong(event));
        return long < 0 ? events : events.slice(0, long);
      }),
    ),
    detectedBy: { "streaming.long-events[chat]": "STREAM-4" },
  }),
  mutation("stream.long-event-lost", {
    breaks: ["STREAM-4"],
    summary: "Short replies are one event, and an event longer than 256 KiB is lost; the stream ends normally.",
    apply: all(
      oneEventPerText,
      onEvents(streaming, (events) => events.filter((event) => !isLong(event, 262_144))),
    ),
    detectedBy: { "streaming.long-events[messages]": "STREAM-4" },
    shownBy: "checks",
  }),
  mutation("stream.wrong-length", {
    breaks: ["HTTP-FRAMING", "STREAM-3", "STREAM-4"],
    summary: "The Content-Length of a stream is too small.",
    apply: wrap("seal", (next) => (response, call) => {
      const parcel = next(response, call);
      return chatStream(call) && parcel.body.kind === "steps"
        ? { ...parcel, headers: [...parcel.headers, ["Content-Length", "400"]] }
        : parcel;
    }),
  }),
];
