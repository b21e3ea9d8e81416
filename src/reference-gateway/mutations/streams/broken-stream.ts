import { grid, type Mutation, mutation } from "../../change.ts";
import { both, nonStreaming, onChat, onMessages, streaming, type When } from "../../edits/when.ts";
import { type Apply, all, eachEvent, endingAs, onEvents, wrap } from "../../edits/wrap.ts";

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
  ...grid(["COMPAT-STREAM-ERROR"], completed, {
    "upstream.cut-passed-off-as-complete": { summary: "A truncated stream ends like a complete one.", with: streaming },
    "upstream.cut-passed-off-on-messages": {
      summary: "A truncated stream ends like a complete one on the messages endpoint.",
      with: both(streaming, onMessages),
    },
    "upstream.cut-reply-passed-off": {
      breaks: ["ERR-5XX-1"],
      summary: "A truncated non-streaming reply is sent as a complete one.",
      with: nonStreaming,
    },
  }),
  mutation("upstream.cut-without-word", {
    breaks: ["COMPAT-STREAM-ERROR"],
    summary: "A truncated stream ends cleanly without an error event.",
    apply: all(
      onEvents(broken, (events) => events.filter((event) => event.kind !== "error")),
      endingAs("finish", broken),
    ),
  }),
  mutation("upstream.error-in-other-dialect", {
    breaks: ["COMPAT-STREAM-ERROR"],
    summary: "The error event of a failed messages stream has the chat format.",
    apply: eachEvent(both(broken, onMessages), ["error"], (event) => ({
      ...event,
      name: undefined,
      data: { error: { message: "The model provider failed.", type: "server_error", code: 502 } },
    })),
  }),
  mutation("upstream.error-event-unnamed", {
    breaks: ["COMPAT-STREAM-ERROR"],
    summary: "The error event of a failed messages stream has no event name.",
    apply: eachEvent(both(broken, onMessages), ["error"], (event) => ({ ...event, name: undefined })),
  }),
  mutation("upstream.error-as-text", {
    breaks: ["COMPAT-STREAM-ERROR"],
    summary: "A failed chat stream sends the error as model output and ends like a complete one.",
    apply: all(
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
  }),
];
