import { member } from "../../../core/index.ts";
import { grid, type Mutation, mutation } from "../../change.ts";
import { badBodyIs500, has, lacks, readAs, refuseBody } from "../../edits/replies/body-edits.ts";
import { insteadOf } from "../../edits/replies/response-edits.ts";
import { both, longBody, multiTurn, nonAscii, onChat, type When } from "../../edits/when.ts";
import { onDenial, onServed, wrap } from "../../edits/wrap.ts";
import { lastUserText, userTurn } from "../../pipeline/read/inference-request.ts";

/** Which requests of the chat dialect are accepted. */
export const CHAT_REQUEST_MUTATIONS: readonly Mutation[] = [
  mutation("chat.minimal-body-refused", {
    breaks: ["CHAT-1", "CHAT-4", "BASE-2", "BASE-3"],
    summary: "A chat request without max_tokens is rejected.",
    apply: refuseBody(both(onChat, lacks("max_tokens"), lacks("max_completion_tokens")), {
      message: "max_tokens: a whole number is required.",
    }),
  }),
  mutation("chat.stream-field-required", {
    breaks: ["CHAT-1", "CHAT-7", "BASE-2", "BASE-3"],
    summary: "A chat request without the stream field is rejected.",
    apply: refuseBody(both(onChat, lacks("stream")), { message: "stream: true or false is required." }),
  }),
  mutation("chat.history-refused", {
    breaks: ["CHAT-4"],
    summary: "A multi-turn conversation is rejected.",
    apply: refuseBody(both(onChat, multiTurn), { message: "messages: exactly one message is expected." }),
  }),
  ...grid(["CHAT-4"], (when: When) => onServed(when, insteadOf("internal_error")), {
    "chat.history-500": { summary: "A multi-turn conversation gets 500.", with: both(onChat, multiTurn) },
    "chat.non-ascii-500": { summary: "A conversation with non-ASCII text gets 500.", with: both(onChat, nonAscii) },
    "chat.long-text-500": {
      summary: "A conversation of more than four kilobytes gets 500.",
      with: both(onChat, longBody),
    },
  }),
  mutation("chat.non-ascii-refused", {
    breaks: ["CHAT-4"],
    summary: "A conversation with non-ASCII text is rejected.",
    apply: refuseBody(both(onChat, nonAscii), { message: "messages: unexpected character." }),
  }),
  mutation("chat.long-text-refused", {
    breaks: ["CHAT-4"],
    summary: "A conversation of more than four kilobytes is rejected.",
    apply: refuseBody(both(onChat, longBody), { status: 413, message: "The request is too long." }),
  }),
  mutation("chat.without-model-served", {
    breaks: ["CHAT-5"],
    summary: "A request without a model is served by the default model.",
    apply: readAs(both(onChat, lacks("model")), (body) => ({ ...body, model: "echo-fast" })),
  }),
  ...grid(["CHAT-5"], badBodyIs500, {
    "chat.without-model-500": { summary: "A request without a model gets 500.", with: both(onChat, lacks("model")) },
    "chat.without-messages-500": {
      breaks: ["CHAT-6"],
      summary: "A request without messages gets 500.",
      with: both(onChat, lacks("messages")),
    },
    "chat.bad-turn-500": {
      breaks: ["CHAT-10"],
      summary: "A message whose content has the wrong type gets 500.",
      with: both(
        onChat,
        has("messages", (value) => Array.isArray(value) && value.length > 0),
      ),
      mayBreak: ["CHAT-5"],
    },
  }),
  mutation("chat.without-messages-served", {
    breaks: ["CHAT-6"],
    summary: "A request without messages gets a greeting.",
    apply: readAs(both(onChat, lacks("messages")), (body) => ({
      ...body,
      messages: [{ role: "user", content: "Hello! How can I help?" }],
    })),
  }),
  mutation("chat.without-messages-is-unknown-model", {
    breaks: ["CHAT-6"],
    summary: "A request without messages gets model_not_found.",
    apply: onDenial("invalid_request", both(onChat, lacks("messages")), insteadOf("model_not_found")),
  }),
  mutation("chat.system-turn-refused", {
    // Not CHAT-4: the specification names no roles.
    breaks: ["COMPAT-CHAT-TURNS"],
    summary: "A conversation that begins with a system turn is rejected.",
    apply: refuseBody(
      both(
        onChat,
        has("messages", (turns) => Array.isArray(turns) && member(turns[0], "role") === "system"),
      ),
      { message: "messages[0].role: user is expected." },
    ),
  }),
  mutation("chat.answers-first-turn", {
    breaks: ["TEXT-INTACT"],
    summary: "In a multi-turn conversation, the model gets only the first user turn.",
    apply: wrap(
      "plan",
      (next) => (model, request, call) =>
        next(
          model,
          onChat(call)
            ? { ...request, turns: request.turns.slice(0, request.turns.findIndex((turn) => turn.role === "user") + 1) }
            : request,
          call,
        ),
    ),
  }),
  mutation("chat.cache-mixes-prompts", {
    breaks: ["OWN-ANSWER", "TEXT-INTACT"],
    mayBreak: ["BASE-3"],
    summary: "Prompts with the same first four characters get the reply to the first of them.",
    apply: wrap("plan", (next) => {
      const cache = new Map<string, string>();
      return (model, request, call) => {
        const text = lastUserText(request);
        if (!onChat(call) || text.length > 200) return next(model, request, call);
        const known = cache.get(text.slice(0, 4)) ?? text;
        cache.set(text.slice(0, 4), known);
        return next(model, { ...request, turns: [userTurn(known)] }, call);
      };
    }),
  }),
  mutation("chat.cache-ignores-case", {
    breaks: ["OWN-ANSWER", "TEXT-INTACT"],
    summary: "Prompts that differ only in letter case get the reply to the first of them.",
    apply: wrap("plan", (next) => {
      const cache = new Map<string, string>();
      return (model, request, call) => {
        const text = lastUserText(request);
        const known = cache.get(text.toLowerCase()) ?? text;
        cache.set(text.toLowerCase(), known);
        return next(model, known === text ? request : { ...request, turns: [userTurn(known)] }, call);
      };
    }),
    shownBy: "checks",
  }),
];
