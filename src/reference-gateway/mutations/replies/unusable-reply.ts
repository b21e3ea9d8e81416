import { loadMutation, type Mutation, mutation } from "../../change.ts";
import { put } from "../../edits/replies/json-edits.ts";
import { html, text } from "../../edits/replies/response-edits.ts";
import { after, both, every, inference, nonStreaming, onChat, streaming, type When } from "../../edits/when.ts";
import { type Apply, all, eachEvent, onEvents, onReply, onServed, wrap } from "../../edits/wrap.ts";

/** A kind of 2xx reply that no client can use. */
interface Kind {
  /** Names of its three mutations: every reply, one reply in five, every reply after the 100th. */
  readonly names: readonly [always: string, inFive: string, later: string];
  /** What is true of such a reply. */
  readonly summary: string;
  readonly breaks: readonly string[];
  /** The requests whose replies can be of this kind. */
  readonly on: When;
  readonly apply: (when: When) => Apply;
}

const NO_REPLY = ["ERR-200-1", "BASE-3", "CHAT-2", "MSG-2"];

const ERROR = { error: { message: "The provider is overloaded", type: "upstream_error", code: 503 } };

const emptyText = put("choices.0.message.content", "");
const noBlocks = (value: unknown) => ({ ...(value as object), content: [], stop_reason: null });

const KINDS: readonly Kind[] = [
  {
    names: ["reply.html-page", "reply.html-page-in-five", "reply.html-page-later"],
    summary: "is an HTML page",
    breaks: NO_REPLY,
    on: inference,
    apply: (when) => onServed(when, html("Welcome")),
  },
  {
    names: ["reply.empty-body", "reply.empty-body-in-five", "reply.empty-body-later"],
    summary: "has no body",
    breaks: NO_REPLY,
    on: inference,
    apply: (when) => onServed(when, text("", "application/json")),
  },
  {
    names: ["reply.queued", "reply.queued-in-five", "reply.queued-later"],
    summary: "is a 202 saying that the request is queued",
    breaks: NO_REPLY,
    on: inference,
    apply: (when) =>
      onServed(when, (response) => ({
        ...response,
        status: 202,
        body: { kind: "json", value: { status: "queued" } },
      })),
  },
  {
    names: ["reply.error-with-200", "reply.error-with-200-in-five", "reply.error-with-200-later"],
    summary: "is an error object with status 200",
    breaks: NO_REPLY,
    on: inference,
    apply: (when) => onServed(when, (response) => ({ ...response, body: { kind: "json", value: ERROR } })),
  },
  {
    names: ["reply.empty-text", "reply.empty-text-in-five", "reply.empty-text-later"],
    summary: "has empty text",
    breaks: ["CHAT-2", "MSG-2", "BASE-3", "STREAM-4"],
    on: inference,
    apply: (when) =>
      all(
        onReply(both(when, onChat), emptyText),
        onReply(
          both(when, (call) => !onChat(call)),
          put("content.0.text", ""),
        ),
        eachEvent(when, ["text"], () => undefined),
      ),
  },
  {
    names: ["reply.no-choices", "reply.no-choices-in-five", "reply.no-choices-later"],
    summary: "has no choices, or no content blocks",
    breaks: ["CHAT-2", "MSG-2", "BASE-3"],
    on: nonStreaming,
    apply: (when) =>
      all(
        onReply(both(when, onChat), put("choices", [])),
        onReply(
          both(when, (call) => !onChat(call)),
          noBlocks,
        ),
      ),
  },
  {
    names: ["reply.stream-without-end", "reply.stream-without-end-in-five", "reply.stream-without-end-later"],
    summary: "is a stream that ends cleanly after its first delta, without a final event",
    breaks: ["STREAM-4"],
    on: streaming,
    apply: (when) =>
      onEvents(when, (events) => {
        const first = events.findIndex(({ kind }) => kind === "text");
        return first === -1 ? events : events.slice(0, first + 1);
      }),
  },
  {
    names: ["reply.stream-ignored", "reply.stream-ignored-in-five", "reply.stream-ignored-later"],
    summary: "is one JSON document although a stream was requested",
    breaks: ["STREAM-1"],
    on: streaming,
    apply: (when) =>
      wrap("readRequest", (next) => (call) => {
        const request = next(call);
        return "reason" in request || !when(call) ? request : { ...request, stream: false };
      }),
  },
  {
    names: [
      "reply.stream-with-unnamed-error",
      "reply.stream-with-unnamed-error-in-five",
      "reply.stream-with-unnamed-error-later",
    ],
    summary: "is a stream that contains an error in the framework's format and then ends normally",
    breaks: ["CHAT-4", "STREAM-4"],
    on: streaming,
    apply: (when) =>
      onEvents(when, (events) => {
        const first = events.findIndex(({ kind }) => kind === "text");
        const [atMs, end] = [events[first]?.atMs ?? 0, events.filter(({ kind }) => kind === "done")];
        const error = { kind: "error", atMs, tokens: 0, data: { detail: "Provider returned 503" } } as const;
        return [...events.slice(0, first + 1), error, ...end.map((event) => ({ ...event, atMs }))];
      }),
  },
];

/** Number of usable replies before the defect begins. */
const SOUND_REPLIES = 100;

/** 2xx replies that no client can use: all replies, one in five, or all after the first 100. */
export const UNUSABLE_REPLY_MUTATIONS: readonly Mutation[] = KINDS.flatMap(
  ({ names: [always, inFive, later], summary, breaks, on, apply }) => [
    mutation(always, { breaks, summary: `Every reply ${summary}.`, apply: apply(both(inference, on)) }),
    loadMutation(inFive, {
      breaks,
      summary: `One reply in five ${summary}.`,
      apply: apply(every(5, both(inference, on))),
    }),
    loadMutation(later, {
      breaks,
      summary: `After ${SOUND_REPLIES} replies, every reply ${summary}.`,
      apply: apply(after(SOUND_REPLIES, both(inference, on))),
    }),
  ],
);
