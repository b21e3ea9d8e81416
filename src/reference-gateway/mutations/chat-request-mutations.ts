import { member } from "../../core/index.ts";
import { type Mutation, mutation } from "../change.ts";
import { badBodyIs500, has, lacks, readAs, refuseBody } from "../edits/replies/body-edits.ts";
import { insteadOf } from "../edits/replies/response-edits.ts";
import { both, longBody, multiTurn, nonAscii, onChat } from "../edits/when.ts";
import { onDenial, onServed, wrap } from "../edits/wrap.ts";
import { lastUserText, userTurn } from "../pipeline/read/inference-request.ts";

/** Which requests of the chat dialect are accepted. */
export const CHAT_REQUEST_MUTATIONS: readonly Mutation[] = [
  mutation(
    "chat.minimal-body-refused",
    ["CHAT-1", "CHAT-4", "BASE-2", "BASE-3"],
    "A chat request without max_tokens is rejected.",
    refuseBody(both(onChat, lacks("max_tokens"), lacks("max_completion_tokens")), {
      message: "max_tokens: a whole number is required.",
    }),
  ),
  mutation(
    "chat.stream-field-required",
    ["CHAT-1", "CHAT-7", "BASE-2", "BASE-3"],
    "A chat request without the stream field is rejected.",
    refuseBody(both(onChat, lacks("stream")), { message: "stream: true or false is required." }),
  ),
  mutation(
    "chat.history-refused",
    ["CHAT-4"],
    "A multi-turn conversation is rejected.",
    refuseBody(both(onChat, multiTurn), { message: "messages: exactly one message is expected." }),
  ),
  mutation(
    "chat.history-500",
    ["CHAT-4"],
    "A multi-turn conversation gets 500.",
    onServed(both(onChat, multiTurn), insteadOf("internal_error")),
  ),
  mutation(
    "chat.non-ascii-refused",
    ["CHAT-4"],
    "A conversation with non-ASCII text is rejected.",
    refuseBody(both(onChat, nonAscii), { message: "messages: unexpected character." }),
  ),
  mutation(
    "chat.non-ascii-500",
    ["CHAT-4"],
    "A conversation with non-ASCII text gets 500.",
    onServed(both(onChat, nonAscii), insteadOf("internal_error")),
  ),
  mutation(
    "chat.long-text-refused",
    ["CHAT-4"],
    "A conversation of more than four kilobytes is rejected.",
    refuseBody(both(onChat, longBody), { status: 413, message: "The request is too long." }),
  ),
  mutation(
    "chat.long-text-500",
    ["CHAT-4"],
    "A conversation of more than four kilobytes gets 500.",
    onServed(both(onChat, longBody), insteadOf("internal_error")),
  ),
  mutation(
    "chat.without-model-served",
    ["CHAT-5"],
    "A request without a model is served by the default model.",
    readAs(both(onChat, lacks("model")), (body) => ({ ...body, model: "echo-fast" })),
  ),
  mutation(
    "chat.without-model-500",
    ["CHAT-5"],
    "A request without a model gets 500.",
    badBodyIs500(both(onChat, lacks("model"))),
  ),
  mutation(
    "chat.without-messages-served",
    ["CHAT-6"],
    "A request without messages gets a greeting.",
    readAs(both(onChat, lacks("messages")), (body) => ({
      ...body,
      messages: [{ role: "user", content: "Hello! How can I help?" }],
    })),
  ),
  mutation(
    "chat.without-messages-500",
    ["CHAT-6"],
    "A request without messages gets 500.",
    badBodyIs500(both(onChat, lacks("messages"))),
  ),
  mutation(
    "chat.without-messages-is-unknown-model",
    ["CHAT-6"],
    "A request without messages gets model_not_found.",
    onDenial("invalid_request", both(onChat, lacks("messages")), insteadOf("model_not_found")),
  ),
  mutation(
    "chat.bad-turn-500",
    ["CHAT-10"],
    "A message whose content has the wrong type gets 500.",
    badBodyIs500(
      both(
        onChat,
        has("messages", (value) => Array.isArray(value) && value.length > 0),
      ),
    ),
  ),
  mutation(
    "chat.system-turn-refused",
    // Not CHAT-4: the specification names no roles.
    ["COMPAT-CHAT-TURNS"],
    "A conversation that begins with a system turn is rejected.",
    refuseBody(
      both(
        onChat,
        has("messages", (turns) => Array.isArray(turns) && member(turns[0], "role") === "system"),
      ),
      { message: "messages[0].role: user is expected." },
    ),
  ),
  mutation(
    "chat.answers-first-turn",
    ["TEXT-INTACT"],
    "In a multi-turn conversation, the model gets only the first user turn.",
    wrap(
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
  ),
  mutation(
    "chat.cache-mixes-prompts",
    ["TEXT-INTACT"],
    "Prompts with the same first four characters get the reply to the first of them.",
    wrap("plan", (next) => {
      const cache = new Map<string, string>();
      return (model, request, call) => {
        const text = lastUserText(request);
        if (!onChat(call) || text.length > 200) return next(model, request, call);
        const known = cache.get(text.slice(0, 4)) ?? text;
        cache.set(text.slice(0, 4), known);
        return next(model, { ...request, turns: [userTurn(known)] }, call);
      };
    }),
  ),
  mutation(
    "chat.cache-ignores-case",
    ["TEXT-INTACT"],
    "Prompts that differ only in letter case get the reply to the first of them.",
    wrap("plan", (next) => {
      const cache = new Map<string, string>();
      return (model, request, call) => {
        const text = lastUserText(request);
        const known = cache.get(text.toLowerCase()) ?? text;
        cache.set(text.toLowerCase(), known);
        return next(model, known === text ? request : { ...request, turns: [userTurn(known)] }, call);
      };
    }),
  ),
];
