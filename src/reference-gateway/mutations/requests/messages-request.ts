import { grid, type Mutation, mutation } from "../../change.ts";
import { badBodyIs500, has, lacks, readAs, refuseBody } from "../../edits/replies/body-edits.ts";
import { insteadOf } from "../../edits/replies/response-edits.ts";
import {
  both,
  datedVersion,
  longBody,
  multiTurn,
  nonStreaming,
  onMessages,
  streaming,
  type When,
} from "../../edits/when.ts";
import { type Apply, onServed, wrap } from "../../edits/wrap.ts";

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
  ...grid(["MSG-10", "VER-2", "MSG-1", "BASE-2"], (when: When) => refuseBody(when, { message: "Unknown header." }), {
    "messages.version-refused": { summary: "A request with the dated version header is rejected.", with: version },
    "messages.version-refused-on-streams": {
      breaks: ["MSG-10", "VER-2"],
      summary: "A stream with the dated version header is rejected; one without is served.",
      with: both(version, streaming),
      mayBreak: ["ERR-402-CREDITS", "ERR-402-QUOTA", "ERR-429-BUDGET"],
      shownBy: "checks",
    },
  }),
  ...grid(["MSG-7"], (when: When) => onServed(when, insteadOf("internal_error")), {
    "messages.version-500": {
      breaks: ["MSG-10", "VER-2", "MSG-1", "BASE-2"],
      summary: "A request with the dated version header gets 500.",
      with: version,
    },
    "messages.empty-system-500": {
      // Not MSG-7: an empty prompt may be refused, but not with a server error.
      breaks: ["HTTP-SERVER-ERROR"],
      summary: "An empty system prompt gets 500.",
      with: both(
        onMessages,
        has("system", (value) => value === ""),
      ),
      shownBy: "checks",
    },
    "messages.system-500": { summary: "A top-level system prompt gets 500.", with: withSystem },
    "messages.long-system-500": {
      summary: "A system prompt in a large request gets 500.",
      with: both(withSystem, longBody),
    },
  }),
  ...grid(["MSG-4", "MSG-5"], (when: When) => readAs(when, (body) => ({ ...body, max_tokens: 1_024 })), {
    "messages.max-tokens-optional": {
      summary: "max_tokens has a default.",
      with: both(onMessages, lacks("max_tokens")),
    },
    "messages.max-tokens-optional-on-stream": {
      summary: "max_tokens has a default for streams.",
      with: both(onMessages, streaming, lacks("max_tokens")),
    },
  }),
  ...grid(["MSG-5"], badBodyIs500, {
    "messages.without-max-tokens-500": {
      summary: "A request without max_tokens gets 500.",
      with: both(onMessages, lacks("max_tokens")),
    },
    "messages.without-max-tokens-500-on-stream": {
      summary: "A stream without max_tokens gets 500.",
      with: both(onMessages, streaming, lacks("max_tokens")),
    },
    "messages.max-tokens-zero-500": {
      summary: "A max_tokens of zero gets 500.",
      with: badMaxTokens((value) => value === 0),
    },
    "messages.without-model-500": {
      breaks: ["MSG-9"],
      summary: "A request without a model gets 500.",
      with: both(onMessages, lacks("model")),
    },
    "messages.without-messages-500": {
      breaks: ["MSG-9"],
      summary: "A request without messages gets 500.",
      with: both(onMessages, lacks("messages")),
    },
  }),
  ...grid(["MSG-5"], served, {
    "messages.max-tokens-text-served": {
      summary: "max_tokens may be a string.",
      with: (value) => typeof value === "string",
    },
    "messages.max-tokens-fraction-served": {
      summary: "max_tokens may be a fraction.",
      with: (value) => typeof value === "number" && !Number.isInteger(value),
    },
    "messages.max-tokens-negative-served": {
      summary: "max_tokens may be negative.",
      with: (value) => typeof value === "number" && value < 0,
    },
  }),
  mutation("messages.max-tokens-ignored", {
    breaks: ["MSG-6"],
    summary: "max_tokens does not limit non-streaming replies.",
    apply: wrap(
      "plan",
      (next) => (model, request, call) =>
        next(model, both(onMessages, nonStreaming)(call) ? { ...request, maxTokens: undefined } : request, call),
    ),
  }),
  mutation("messages.max-tokens-doubled", {
    breaks: ["MSG-6"],
    summary: "Replies may be twice as long as max_tokens.",
    apply: wrap(
      "plan",
      (next) => (model, request, call) =>
        next(model, onMessages(call) ? { ...request, maxTokens: (request.maxTokens ?? 1) * 2 } : request, call),
    ),
  }),
  mutation("messages.system-refused", {
    breaks: ["MSG-7"],
    summary: "A top-level system prompt is rejected.",
    apply: refuseBody(withSystem, { message: "system: unknown field." }),
  }),
  mutation("messages.system-lines-refused", {
    breaks: ["MSG-7"],
    summary: "A system prompt of several lines is rejected.",
    apply: refuseBody(
      both(
        onMessages,
        has("system", (value) => String(value).includes("\n")),
      ),
      { message: "Bad system." },
    ),
    shownBy: "checks",
  }),
  ...grid(["MSG-7"], (when: When) => forgotten("system", when), {
    "messages.system-dropped": {
      summary: "The system prompt never reaches the model.",
      with: onMessages,
      detectedBy: { "messages.system-applied[non-streaming,one-turn]": "MSG-7" },
    },
    "messages.system-dropped-on-streams": {
      summary: "The system prompt of a stream never reaches the model.",
      with: both(onMessages, streaming),
      detectedBy: { "messages.system-applied[streaming,one-turn]": "MSG-7" },
    },
    "messages.system-dropped-in-conversations": {
      summary: "The system prompt reaches the model only with the first turn.",
      with: both(onMessages, multiTurn),
      detectedBy: { "messages.system-applied[non-streaming,several-turns]": "MSG-7" },
    },
  }),
  mutation("messages.output-limit-of-one-turn-only", {
    breaks: ["MSG-6"],
    summary: "max_tokens does not limit replies to multi-turn conversations.",
    apply: forgotten("maxTokens", both(onMessages, multiTurn)),
    shownBy: "checks",
  }),
  mutation("messages.without-model-served", {
    breaks: ["MSG-9"],
    summary: "A request without a model is served by the default model.",
    apply: readAs(both(onMessages, lacks("model")), (body) => ({ ...body, model: "echo-fast" })),
  }),
  mutation("messages.without-messages-served", {
    breaks: ["MSG-9"],
    summary: "A request without messages gets a greeting.",
    apply: readAs(both(onMessages, lacks("messages")), (body) => ({
      ...body,
      messages: [{ role: "user", content: "Hello!" }],
    })),
  }),
];
