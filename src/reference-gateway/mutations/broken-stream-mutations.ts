import { type Mutation, mutation } from "../change.ts";
import { both, nonStreaming, onChat, onMessages, streaming, type When } from "../edits/when.ts";
import { type Apply, all, eachEvent, endingAs, onEvents, wrap } from "../edits/wrap.ts";

const broken: When = (call) => call.plan?.kind === "reply" && call.plan.breaksAfter !== undefined;

/** An interrupted reply is reported as complete. */
const completed = (when: When): Apply =>
  wrap("plan", (next) => (model, request, call) => {
    const plan = next(model, request, call);
    if (plan.kind !== "reply" || plan.breaksAfter === undefined || !when(call)) return plan;
    const { breaksAfter, ...rest } = plan;
    return { ...rest, pieces: plan.pieces.slice(0, breaksAfter) };
  });

/** How a reply ends when its provider fails in the middle. */
export const BROKEN_STREAM_MUTATIONS: readonly Mutation[] = [
  mutation(
    "upstream.cut-passed-off-as-complete",
    ["COMPAT-STREAM-ERROR"],
    "A truncated stream ends like a complete one.",
    completed(streaming),
  ),
  mutation(
    "upstream.cut-passed-off-on-messages",
    ["COMPAT-STREAM-ERROR"],
    "A truncated stream ends like a complete one on the messages endpoint.",
    completed(both(streaming, onMessages)),
  ),
  mutation(
    "upstream.cut-reply-passed-off",
    ["ERR-5XX-1"],
    "A truncated non-streaming reply is sent as a complete one.",
    completed(nonStreaming),
  ),
  mutation(
    "upstream.cut-without-word",
    ["COMPAT-STREAM-ERROR"],
    "A truncated stream ends cleanly without an error event.",
    all(
      onEvents(broken, (events) => events.filter((event) => event.kind !== "error")),
      endingAs("finish", broken),
    ),
  ),
  mutation(
    "upstream.error-in-other-dialect",
    ["COMPAT-STREAM-ERROR"],
    "The error event of a failed messages stream has the chat format.",
    eachEvent(both(broken, onMessages), ["error"], (event) => ({
      ...event,
      name: undefined,
      data: { error: { message: "The model provider failed.", type: "server_error", code: 502 } },
    })),
  ),
  mutation(
    "upstream.error-event-unnamed",
    ["COMPAT-STREAM-ERROR"],
    "The error event of a failed messages stream has no event name.",
    eachEvent(both(broken, onMessages), ["error"], (event) => ({ ...event, name: undefined })),
  ),
  mutation(
    "upstream.error-as-text",
    ["COMPAT-STREAM-ERROR"],
    "A failed chat stream sends the error as model output and ends like a complete one.",
    all(
      eachEvent(both(broken, onChat), ["error"], (event) => [
        {
          ...event,
          data: {
            object: "chat.completion.chunk",
            choices: [{ index: 0, delta: { content: "Error: the provider failed." }, finish_reason: "stop" }],
          },
        },
        { kind: "done", atMs: event.atMs, tokens: 0, data: "[DONE]" },
      ]),
      endingAs("finish", both(broken, onChat)),
    ),
  ),
];
