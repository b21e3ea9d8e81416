import { loadMutation, type Mutation, mutation } from "../change.ts";
import { put } from "../edits/replies/json-edits.ts";
import { html, text } from "../edits/replies/response-edits.ts";
import { after, both, every, inference, nonStreaming, onChat, streaming, type When } from "../edits/when.ts";
import { type Apply, all, eachEvent, onEvents, onReply, onServed, wrap } from "../edits/wrap.ts";

/** A kind of 2xx reply that no client can use. */
interface Kind {
  readonly name: string;
  readonly summary: string;
  readonly requirements: readonly string[];
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
    name: "html-page",
    summary: "is an HTML page",
    requirements: NO_REPLY,
    on: inference,
    apply: (when) => onServed(when, html("Welcome")),
  },
  {
    name: "empty-body",
    summary: "has no body",
    requirements: NO_REPLY,
    on: inference,
    apply: (when) => onServed(when, text("", "application/json")),
  },
  {
    name: "queued",
    summary: "is a 202 saying that the request is queued",
    requirements: NO_REPLY,
    on: inference,
    apply: (when) =>
      onServed(when, (response) => ({
        ...response,
        status: 202,
        body: { kind: "json", value: { status: "queued" } },
      })),
  },
  {
    name: "error-with-200",
    summary: "is an error object with status 200",
    requirements: NO_REPLY,
    on: inference,
    apply: (when) => onServed(when, (response) => ({ ...response, body: { kind: "json", value: ERROR } })),
  },
  {
    name: "empty-text",
    summary: "has empty text",
    requirements: ["CHAT-2", "MSG-2", "BASE-3", "STREAM-4"],
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
    name: "no-choices",
    summary: "has no choices, or no content blocks",
    requirements: ["CHAT-2", "MSG-2", "BASE-3"],
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
    name: "stream-without-end",
    summary: "is a stream that ends cleanly after its first delta, without a final event",
    requirements: ["STREAM-4"],
    on: streaming,
    apply: (when) =>
      onEvents(when, (events) => {
        const first = events.findIndex(({ kind }) => kind === "text");
        return first === -1 ? events : events.slice(0, first + 1);
      }),
  },
  {
    name: "stream-ignored",
    summary: "is one JSON document although a stream was requested",
    requirements: ["STREAM-1"],
    on: streaming,
    apply: (when) =>
      wrap("readRequest", (next) => (call) => {
        const request = next(call);
        return "reason" in request || !when(call) ? request : { ...request, stream: false };
      }),
  },
  {
    name: "stream-with-unnamed-error",
    summary: "is a stream that contains an error in the framework's format and then ends normally",
    requirements: ["CHAT-4", "STREAM-4"],
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
  ({ name, summary, requirements, on, apply }) => [
    mutation(`reply.${name}`, requirements, `Every reply ${summary}.`, apply(both(inference, on))),
    loadMutation(
      `reply.${name}-in-five`,
      requirements,
      `One reply in five ${summary}.`,
      apply(every(5, both(inference, on))),
    ),
    loadMutation(
      `reply.${name}-later`,
      requirements,
      `After ${SOUND_REPLIES} replies, every reply ${summary}.`,
      apply(after(SOUND_REPLIES, both(inference, on))),
    ),
  ],
);
