import { type Mutation, mutation } from "../change.ts";
import { badBodyIs500, has, lacks, readAs, refuseBody } from "../edits/replies/body-edits.ts";
import { insteadOf } from "../edits/replies/response-edits.ts";
import {
  both,
  datedVersion,
  longBody,
  multiTurn,
  nonStreaming,
  onMessages,
  streaming,
  type When,
} from "../edits/when.ts";
import { type Apply, onServed, wrap } from "../edits/wrap.ts";

const withSystem: When = both(
  onMessages,
  has("system", () => true),
);
const badMaxTokens = (such: (value: unknown) => boolean): When => both(onMessages, has("max_tokens", such));
const asOne = (body: Record<string, unknown>) => ({ ...body, max_tokens: 16 });

/** Served as if the limit were sixteen tokens. */
const served = (such: (value: unknown) => boolean) => readAs(badMaxTokens(such), asOne);

/** A part of the request never reaches the model. */
const forgotten = (what: "system" | "maxTokens", when: When): Apply =>
  wrap(
    "plan",
    (next) => (model, request, call) => next(model, when(call) ? { ...request, [what]: undefined } : request, call),
  );

const version: When = (call) => onMessages(call) && datedVersion(call) !== undefined;

/** Which requests of the messages dialect are accepted, and how they are interpreted. */
export const MESSAGES_REQUEST_MUTATIONS: readonly Mutation[] = [
  mutation(
    "messages.version-refused",
    ["MSG-10", "VER-2", "MSG-1", "BASE-2"],
    "A request with the dated version header is rejected.",
    refuseBody(version, { message: "Unknown header." }),
  ),
  mutation(
    "messages.version-refused-on-streams",
    ["MSG-10", "VER-2"],
    "A stream with the dated version header is rejected; one without is served.",
    refuseBody(both(version, streaming), { message: "Unknown header." }),
  ),
  mutation(
    "messages.version-500",
    ["MSG-10", "VER-2", "MSG-1", "BASE-2"],
    "A request with the dated version header gets 500.",
    onServed(version, insteadOf("internal_error")),
  ),
  mutation(
    "messages.max-tokens-optional",
    ["MSG-4", "MSG-5"],
    "max_tokens has a default.",
    readAs(both(onMessages, lacks("max_tokens")), (body) => ({ ...body, max_tokens: 1_024 })),
  ),
  mutation(
    "messages.max-tokens-optional-on-stream",
    ["MSG-4", "MSG-5"],
    "max_tokens has a default for streams.",
    readAs(both(onMessages, streaming, lacks("max_tokens")), (body) => ({ ...body, max_tokens: 1_024 })),
  ),
  mutation(
    "messages.without-max-tokens-500",
    ["MSG-5"],
    "A request without max_tokens gets 500.",
    badBodyIs500(both(onMessages, lacks("max_tokens"))),
  ),
  mutation(
    "messages.without-max-tokens-500-on-stream",
    ["MSG-5"],
    "A stream without max_tokens gets 500.",
    badBodyIs500(both(onMessages, streaming, lacks("max_tokens"))),
  ),
  mutation(
    "messages.max-tokens-text-served",
    ["MSG-5"],
    "max_tokens may be a string.",
    served((value) => typeof value === "string"),
  ),
  mutation(
    "messages.max-tokens-fraction-served",
    ["MSG-5"],
    "max_tokens may be a fraction.",
    served((value) => typeof value === "number" && !Number.isInteger(value)),
  ),
  mutation(
    "messages.max-tokens-negative-served",
    ["MSG-5"],
    "max_tokens may be negative.",
    served((value) => typeof value === "number" && value < 0),
  ),
  mutation(
    "messages.max-tokens-zero-500",
    ["MSG-5"],
    "A max_tokens of zero gets 500.",
    badBodyIs500(badMaxTokens((value) => value === 0)),
  ),
  mutation(
    "messages.max-tokens-ignored",
    ["MSG-6"],
    "max_tokens does not limit non-streaming replies.",
    wrap(
      "plan",
      (next) => (model, request, call) =>
        next(model, both(onMessages, nonStreaming)(call) ? { ...request, maxTokens: undefined } : request, call),
    ),
  ),
  mutation(
    "messages.max-tokens-doubled",
    ["MSG-6"],
    "Replies may be twice as long as max_tokens.",
    wrap(
      "plan",
      (next) => (model, request, call) =>
        next(model, onMessages(call) ? { ...request, maxTokens: (request.maxTokens ?? 1) * 2 } : request, call),
    ),
  ),
  mutation(
    "messages.system-refused",
    ["MSG-7"],
    "A top-level system prompt is rejected.",
    refuseBody(withSystem, { message: "system: unknown field." }),
  ),
  mutation(
    "messages.system-lines-refused",
    ["MSG-7"],
    "A system prompt of several lines is rejected.",
    refuseBody(
      both(
        onMessages,
        has("system", (value) => String(value).includes("\n")),
      ),
      { message: "Bad system." },
    ),
  ),
  mutation(
    "messages.empty-system-500",
    // Not MSG-7: an empty prompt may be refused, but not with a server error.
    ["HTTP-SERVER-ERROR"],
    "An empty system prompt gets 500.",
    onServed(
      both(
        onMessages,
        has("system", (value) => value === ""),
      ),
      insteadOf("internal_error"),
    ),
  ),
  mutation(
    "messages.system-500",
    ["MSG-7"],
    "A top-level system prompt gets 500.",
    onServed(withSystem, insteadOf("internal_error")),
  ),
  mutation(
    "messages.long-system-500",
    ["MSG-7"],
    "A system prompt in a large request gets 500.",
    onServed(both(withSystem, longBody), insteadOf("internal_error")),
  ),
  mutation(
    "messages.system-dropped",
    ["MSG-7"],
    "The system prompt never reaches the model.",
    forgotten("system", onMessages),
  ),
  mutation(
    "messages.system-dropped-on-streams",
    ["MSG-7"],
    "The system prompt of a stream never reaches the model.",
    forgotten("system", both(onMessages, streaming)),
  ),
  mutation(
    "messages.system-dropped-in-conversations",
    ["MSG-7"],
    "The system prompt reaches the model only with the first turn.",
    forgotten("system", both(onMessages, multiTurn)),
  ),
  mutation(
    "messages.output-limit-of-one-turn-only",
    ["MSG-6"],
    "max_tokens does not limit replies to multi-turn conversations.",
    forgotten("maxTokens", both(onMessages, multiTurn)),
  ),
  mutation(
    "messages.without-model-served",
    ["MSG-9"],
    "A request without a model is served by the default model.",
    readAs(both(onMessages, lacks("model")), (body) => ({ ...body, model: "echo-fast" })),
  ),
  mutation(
    "messages.without-model-500",
    ["MSG-9"],
    "A request without a model gets 500.",
    badBodyIs500(both(onMessages, lacks("model"))),
  ),
  mutation(
    "messages.without-messages-served",
    ["MSG-9"],
    "A request without messages gets a greeting.",
    readAs(both(onMessages, lacks("messages")), (body) => ({
      ...body,
      messages: [{ role: "user", content: "Hello!" }],
    })),
  ),
  mutation(
    "messages.without-messages-500",
    ["MSG-9"],
    "A request without messages gets 500.",
    badBodyIs500(both(onMessages, lacks("messages"))),
  ),
];
