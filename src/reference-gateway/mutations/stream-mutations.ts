import { loadMutation, type Mutation, mutation } from "../change.ts";
import { allAtTheEnd, inBlocksOf, laterFrom, oneEventPerText } from "../edits/replies/stream-edits.ts";
import { streamForced, streamIgnored } from "../edits/stream-or-not.ts";
import { both, every, nonAscii, onChat, onMessages, reused, secondKey, streaming, type When } from "../edits/when.ts";
import { type Apply, all, eachEvent, endingAs, onEvents, onServed, onSteps, wrap } from "../edits/wrap.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { GatewayResponse, Step, StreamEvent } from "../pipeline/response.ts";

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
  mutation(
    "stream.buffered",
    ["STREAM-1"],
    "The whole stream is buffered until it is complete.",
    onSteps(onChat, allAtTheEnd),
  ),
  mutation(
    "stream.buffered-in-16k",
    ["STREAM-1"],
    "The stream goes through a 16 KB buffer.",
    onSteps(onChat, (steps) => inBlocksOf(16_384, steps)),
  ),
  mutation(
    "stream.buffered-on-reused-connections",
    ["STREAM-1"],
    "Streams on a reused connection are buffered until they are complete.",
    onSteps(both(onChat, reused), allAtTheEnd),
  ),
  mutation(
    "stream.buffered-when-compression-is-accepted",
    ["STREAM-1"],
    "Streams to clients that accept compression are buffered until they are complete.",
    onSteps(both(onChat, acceptsGzip), allAtTheEnd),
  ),
  mutation(
    "stream.buffered-for-second-key",
    ["STREAM-1"],
    "Streams of an account's second key are buffered until they are complete.",
    onSteps(both(onChat, secondKey), allAtTheEnd),
  ),
  mutation(
    "stream.buffered-beyond-ascii",
    ["STREAM-1"],
    "Long texts arrive at an even pace; non-ASCII streams are buffered until they are complete.",
    all(
      wrap("plan", (next) => (model, request, call) => {
        const plan = next(model, request, call);
        const isLong = plan.kind === "reply" && plan.paceMs === 0 && plan.pieces.length > LONG_PIECES;
        return isLong ? { ...plan, paceMs: LONG_MS / plan.pieces.length } : plan;
      }),
      onSteps(both(chatStream, nonAscii), allAtTheEnd),
    ),
  ),
  mutation(
    "stream.hangs-when-the-client-leaves",
    ["STREAM-3"],
    "A stream to a client that sends Connection: close never ends.",
    endingAs(
      "hang",
      both(streaming, ({ arrival }) => String(arrival.headers.connection).includes("close")),
    ),
  ),
  mutation(
    "stream.one-piece-at-the-end",
    ["STREAM-1"],
    "The stream is a single event with the whole text, sent when it is complete.",
    onEvents(onChat, (events) => {
      const endMs = events.at(-1)?.atMs ?? 0;
      const texts = events.filter((event) => event.kind === "text");
      const joined = texts
        .map((event) => String((event.data as { choices: { delta: { content: string } }[] }).choices[0]?.delta.content))
        .join("");
      return events.flatMap((event) => {
        if (event.kind !== "text") return [{ ...event, atMs: endMs }];
        if (event !== texts[0]) return [];
        const data = event.data as { choices: object[] };
        return [
          { ...event, atMs: endMs, data: { ...data, choices: [{ ...data.choices[0], delta: { content: joined } }] } },
        ];
      });
    }),
  ),
  mutation(
    "stream.ignored",
    ["STREAM-1", "BASE-3"],
    "stream is ignored: the reply is one JSON document.",
    streamIgnored(onChat),
  ),
  mutation(
    "stream.overlooked-behind-long-bodies",
    ["SAME-REQUEST", "STREAM-1"],
    "stream is ignored after the first two thousand characters of the body.",
    streamIgnored((call) => call.bodyText.indexOf('"stream"') > 2_000),
  ),
  mutation(
    "stream.ignored-with-usage-option",
    ["STREAM-1", "COMPAT-CHAT-USAGE"],
    "stream is ignored when usage is requested.",
    streamIgnored((call) => onChat(call) && "stream_options" in (call.parsed as object)),
  ),
  mutation(
    "stream.forced-when-false",
    ["CHAT-7", "CHAT-2", "CHAT-3", "ERR-200-1"],
    "The reply is a stream although stream is false.",
    streamForced((call) => onChat(call) && (call.parsed as { stream?: unknown }).stream === false),
  ),
  mutation(
    "stream.forced-when-absent",
    ["CHAT-7", "CHAT-1", "CHAT-2", "CHAT-3", "CHAT-4", "BASE-2", "BASE-3", "ERR-200-1"],
    "The reply is a stream although stream is absent.",
    streamForced((call) => onChat(call) && (call.parsed as { stream?: unknown }).stream === undefined),
  ),
  mutation(
    "stream.forced-by-slow-model",
    ["CHAT-7", "CHAT-1", "CHAT-2", "CHAT-3", "ERR-200-1"],
    "A slow model always streams, even when stream is absent.",
    streamForced((call) => onChat(call) && (call.parsed as { model?: unknown }).model === "slow"),
  ),
  mutation(
    "stream.forced-by-slow-model-on-messages",
    ["MSG-2", "MSG-1", "MSG-3", "ERR-200-1"],
    "A slow model always streams on the messages endpoint, even when stream is absent.",
    streamForced((call) => onMessages(call) && (call.parsed as { model?: unknown }).model === "slow"),
  ),
  mutation(
    "stream.empty",
    ["BASE-3", "STREAM-1", "STREAM-4"],
    "Streams have no body at all.",
    onEvents(onChat, () => []),
  ),
  mutation(
    "stream.no-text",
    ["BASE-3", "STREAM-1", "STREAM-4"],
    "Streams start and end normally but have no text.",
    eachEvent(onChat, ["text"], () => undefined),
  ),
  mutation(
    "stream.never-ends",
    ["STREAM-3"],
    "The response of a stream is never finished.",
    endingAs("hang", chatStream),
  ),
  mutation(
    "stream.never-ends-with-usage-option",
    ["STREAM-3", "COMPAT-CHAT-USAGE"],
    "The response of a stream is never finished when usage is requested.",
    endingAs("hang", usageRequested),
  ),
  mutation(
    "stream.ends-late",
    ["STREAM-3"],
    "The response of a stream stays open for half a minute after its last event.",
    onSteps(onChat, (steps) => [...steps, { atMs: (steps.at(-1)?.atMs ?? 0) + 30_000, bytes: "", tokens: 0 }]),
  ),
  mutation(
    "stream.never-ends-after-error",
    ["STREAM-3", "COMPAT-STREAM-ERROR"],
    "The response stays open after an error event.",
    endingAs("hang", (call) => call.plan?.kind === "reply" && call.plan.breaksAfter !== undefined),
  ),
  mutation(
    "stream.aborts-at-end",
    ["STREAM-3"],
    "The connection is closed instead of finishing the response.",
    endingAs("abort", chatStream),
  ),
  mutation(
    "stream.resets-at-end",
    ["STREAM-3"],
    "The connection is reset instead of finishing the response.",
    endingAs(
      "reset",
      both(chatStream, (call) => call.plan?.kind === "reply" && call.plan.breaksAfter === undefined),
    ),
  ),
  mutation(
    "stream.stalls-in-the-middle",
    // Not STREAM-1: the reply still arrives in pieces.
    ["STREAM-3", "CHAT-4"],
    "The stream stalls halfway for more than a minute.",
    onSteps(onChat, (steps) => laterFrom(halfway(steps), 75_000, steps)),
  ),
  mutation(
    "stream.stalls-before-end",
    ["STREAM-3"],
    "The last event is more than a minute late.",
    onSteps(onChat, (steps) => laterFrom(steps.length - 1, 75_000, steps)),
  ),
  mutation(
    "stream.cut-after-a-second",
    ["STREAM-3", "STREAM-4"],
    "Healthy streams are cut off after one second.",
    cutAfter(1_000, chatStream),
  ),
  mutation(
    "stream.ends-quietly-after-a-second",
    ["STREAM-4"],
    "Streams end after one second as if they were complete.",
    onEvents(onChat, (events) => events.filter((event) => event.kind !== "text" || event.atMs < 1_000)),
  ),
  loadMutation(
    "stream.cut-now-and-then",
    ["STREAM-3", "STREAM-4"],
    "Every twentieth stream is cut off halfway.",
    (behaviour) => {
      const unlucky = every(20, chatStream);
      return all(
        onSteps(unlucky, (steps) => steps.slice(0, halfway(steps))),
        endingAs("abort", unlucky),
      )(behaviour);
    },
  ),
  loadMutation(
    "stream.ends-early-now-and-then",
    ["STREAM-4"],
    "Every twentieth stream silently ends halfway.",
    onSteps(every(20, chatStream), (steps) => steps.slice(0, halfway(steps))),
  ),
  mutation(
    "stream.long-event-ends-it",
    ["STREAM-4", "TEXT-INTACT"],
    "Short replies are one event, and a stream ends at an event longer than 64 KiB.",
    all(
      oneEventPerText,
      onEvents(streaming, (events) => {
        const long = events.findIndex((event) => isLong(event));
        return long < 0 ? events : events.slice(0, long);
      }),
    ),
  ),
  mutation(
    "stream.long-event-lost",
    ["STREAM-4"],
    "Short replies are one event, and an event longer than 256 KiB is lost; the stream ends normally.",
    all(
      oneEventPerText,
      onEvents(streaming, (events) => events.filter((event) => !isLong(event, 262_144))),
    ),
  ),
  mutation(
    "stream.wrong-length",
    ["STREAM-3", "STREAM-4", "HTTP-FRAMING"],
    "The Content-Length of a stream is too small.",
    wrap("seal", (next) => (response, call) => {
      const parcel = next(response, call);
      return chatStream(call) && parcel.body.kind === "steps"
        ? { ...parcel, headers: [...parcel.headers, ["Content-Length", "400"]] }
        : parcel;
    }),
  ),
];
