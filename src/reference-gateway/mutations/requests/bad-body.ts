import { isObject, member } from "../../../core/index.ts";
import { grid, type Mutation, mutation } from "../../change.ts";
import { dropsConnection, neverResponds } from "../../edits/connection-edits.ts";
import { badBodyIs500, has, readAs, refuseBody } from "../../edits/replies/body-edits.ts";
import { insideStream, insteadOf } from "../../edits/replies/response-edits.ts";
import { both, inChunks, onChat, onMessages, streaming, type When } from "../../edits/when.ts";
import { all, onDenial, onRefusal, wrap } from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";

const bodySays =
  (such: (call: Call) => boolean): When =>
  (call) =>
    (onChat(call) || onMessages(call)) && such(call);

const truncated = bodySays((call) => call.bodyError?.message.includes("valid JSON") === true);
const empty = bodySays(
  (call) => call.bodyError !== undefined && call.bodyText === "" && call.bodyError.message.includes("no body"),
);
const notUtf8 = bodySays((call) => call.bodyError?.message.includes("UTF-8") === true);
const tooDeep = bodySays((call) => call.bodyError?.message.includes("deeper") === true);
const notObject = bodySays((call) => call.bodyError === undefined && !isObject(call.parsed));
const badModel = bodySays(has("model", (model) => typeof model !== "string"));
const emptyMessages = bodySays(has("messages", (turns) => Array.isArray(turns) && turns.length === 0));
const badMessages = bodySays(has("messages", (turns) => !Array.isArray(turns)));
const nothing = bodySays((call) => isObject(call.parsed) && Object.keys(call.parsed).length === 0);
const spaced = bodySays((call) => /^\s/.test(call.bodyText));
const escaped = bodySays((call) => /\\ud[89ab]/i.test(call.bodyText));
const badStream = bodySays(has("stream", (stream) => typeof stream !== "boolean" && stream !== null));
const tooLarge = bodySays((call) => call.bodyError?.reason === "request_too_large");
/** The maximum of most proxies, bytes. */
const LARGE_BYTES = 1_048_576;
const saysTooLarge = bodySays(({ arrival }) => Number(arrival.headers["content-length"] ?? 0) > LARGE_BYTES);
const turnWithoutContent = bodySays(
  has(
    "messages",
    (turns) => Array.isArray(turns) && turns.some((turn) => isObject(turn) && turn["content"] === undefined),
  ),
);
const badRole = bodySays(
  has(
    "messages",
    (turns) => Array.isArray(turns) && turns.some((turn) => isObject(turn) && typeof member(turn, "role") !== "string"),
  ),
);

const CALLER = ["CHAT-10"];
const FORM = ["SAME-REQUEST"];
const UNANSWERED = ["RESPONSE-BEFORE-CLOSE"];

/** Invalid bodies, and valid ones that are treated as invalid. */
export const BAD_BODY_MUTATIONS: readonly Mutation[] = [
  ...grid(CALLER, badBodyIs500, {
    "body.empty-object-500": {
      breaks: ["BAD-BODY"],
      summary: "A body that is an empty object gets 500.",
      with: nothing,
      shownBy: "checks",
    },
    "body.truncated-500": {
      summary: "A truncated body gets 500.",
      with: truncated,
      detectedBy: { "chat.unreadable-body[non-streaming,truncated]": "CHAT-10" },
    },
    "body.empty-500": {
      breaks: [...CALLER, "BAD-BODY"],
      summary: "An empty body gets 500.",
      with: empty,
      detectedBy: { "robustness.bad-body[chat,non-streaming,empty]": "BAD-BODY" },
    },
    "body.not-utf8-500": {
      breaks: [...CALLER, "BAD-BODY"],
      summary: "A body that is not UTF-8 gets 500.",
      with: notUtf8,
    },
    "body.deep-500": { breaks: ["BAD-BODY"], summary: "A deeply nested body gets 500.", with: tooDeep },
    "body.not-object-500": { summary: "JSON that is not an object gets 500.", with: notObject },
    "body.model-of-wrong-type-500": { summary: "A model that is not a string gets 500.", with: badModel },
    "body.empty-messages-500": { summary: "An empty conversation gets 500.", with: emptyMessages },
    "body.messages-of-wrong-type-500": { summary: "A conversation that is not an array gets 500.", with: badMessages },
    "body.turn-without-content-500": { summary: "A turn without content gets 500.", with: turnWithoutContent },
    "body.role-of-wrong-type-500": {
      breaks: [...CALLER, "BAD-BODY"],
      summary: "A turn whose role is not a string gets 500.",
      with: badRole,
    },
  }),
  mutation("body.spaces-refused", {
    breaks: FORM,
    summary: "A body that begins with white space is rejected.",
    apply: refuseBody(spaced),
    shownBy: "checks",
  }),
  mutation("body.surrogates-refused", {
    breaks: FORM,
    summary: "A body with escaped surrogates is rejected.",
    apply: refuseBody(escaped),
    shownBy: "checks",
  }),
  mutation("body.chunks-refused", {
    breaks: FORM,
    summary: "A chunked body is rejected as unreadable.",
    apply: refuseBody(bodySays(inChunks)),
    shownBy: "checks",
  }),
  ...grid(CALLER, dropsConnection, {
    "body.truncated-drops-connection": {
      summary: "A truncated body gets no response: the connection is dropped.",
      with: truncated,
      detectedBy: { "chat.unreadable-body[non-streaming,truncated]": "CHAT-10" },
    },
    "body.not-utf8-drops-connection": {
      breaks: [...CALLER, "BAD-BODY"],
      summary: "A body that is not UTF-8 gets no response: the connection is dropped.",
      with: notUtf8,
    },
    "body.deep-drops-connection": {
      breaks: ["BAD-BODY"],
      summary: "A deeply nested body crashes the worker and drops the connection.",
      with: tooDeep,
    },
  }),
  ...grid([...CALLER, "ANSWER-IN-TIME"], neverResponds, {
    "body.truncated-hangs": {
      summary: "A truncated body never gets a response.",
      with: truncated,
      detectedBy: { "chat.unreadable-body[non-streaming,truncated]": "CHAT-10" },
    },
    "body.empty-hangs": {
      breaks: [...CALLER, "BAD-BODY", "ANSWER-IN-TIME"],
      summary: "An empty body never gets a response.",
      with: empty,
    },
  }),
  mutation("body.truncated-is-upstream-error", {
    breaks: CALLER,
    summary: "A truncated body is reported as a provider failure.",
    apply: onDenial("invalid_request", truncated, insteadOf("upstream_error")),
    detectedBy: { "chat.unreadable-body[non-streaming,truncated]": "CHAT-10" },
  }),
  mutation("body.not-object-is-unauthorized", {
    breaks: [...CALLER, "ERR-401-INVALID"],
    summary: "JSON that is not an object gets 401 with a valid key.",
    apply: onDenial("invalid_request", notObject, insteadOf("invalid_api_key")),
  }),
  mutation("body.empty-messages-served", {
    breaks: CALLER,
    summary: "An empty conversation gets a reply.",
    apply: readAs(emptyMessages, (body) => ({ ...body, messages: [{ role: "user", content: "Hello!" }] })),
  }),
  mutation("body.messages-text-served", {
    breaks: CALLER,
    summary: "A conversation that is just a string gets a reply.",
    apply: readAs(bodySays(has("messages", (turns) => typeof turns === "string")), (body) => ({
      ...body,
      messages: [{ role: "user", content: body["messages"] }],
    })),
  }),
  mutation("body.stream-of-wrong-type-served", {
    breaks: CALLER,
    summary: "Any value of stream is accepted as true or false.",
    apply: readAs(badStream, (body) => ({ ...body, stream: Boolean(body["stream"]) })),
  }),
  mutation("body.turn-without-content-served", {
    breaks: CALLER,
    summary: "A turn without content is treated as an empty one.",
    apply: readAs(turnWithoutContent, (body) => ({
      ...body,
      messages: (body["messages"] as Record<string, unknown>[]).map((turn) => ({ content: "", ...turn })),
    })),
  }),
  mutation("body.refused-inside-stream", {
    breaks: ["REFUSED-IN-TIME"],
    summary: "An invalid streaming request gets 200 with the error as its first event.",
    apply: onDenial(
      "invalid_request",
      both(streaming, (call) => call.endpoint !== "models"),
      insideStream,
    ),
  }),
  mutation("body.too-large-500", {
    breaks: ["BAD-BODY"],
    summary: "A body above the limit gets 500.",
    apply: onDenial("request_too_large", () => true, insteadOf("internal_error")),
  }),
  ...grid(UNANSWERED, (when: When) => dropsConnection(when, "reset"), {
    "body.too-large-resets": {
      summary: "A body above the limit gets no response: the connection is reset.",
      with: tooLarge,
      detectedBy: { "robustness.large-body[chat,16-MB]": "RESPONSE-BEFORE-CLOSE" },
    },
    "body.too-large-in-chunks-resets": {
      summary: "A chunked body above the limit gets no response: the connection is reset.",
      with: both(inChunks, tooLarge),
      detectedBy: { "robustness.large-body[chat,16-MB-in-chunks]": "RESPONSE-BEFORE-CLOSE" },
      shownBy: "checks",
    },
  }),
  mutation("body.too-large-unread", {
    breaks: UNANSWERED,
    summary:
      "A body whose Content-Length is above the limit gets no response: the connection is closed without reading it.",
    apply: all(
      wrap("readsBody", (next) => (call) => !saysTooLarge(call) && next(call)),
      dropsConnection(saysTooLarge),
    ),
    detectedBy: { "robustness.large-body[messages,4-MB]": "RESPONSE-BEFORE-CLOSE" },
    shownBy: "checks",
  }),
  mutation("body.wrong-type-label-500", {
    breaks: ["BAD-BODY"],
    summary: "A body without a JSON content type gets 500.",
    apply: onDenial("unsupported_media_type", () => true, insteadOf("internal_error")),
  }),
  mutation("body.error-shows-stack", {
    breaks: ["NO-SECRETS"],
    summary: "The error for a bad body contains a stack trace.",
    apply: onRefusal(
      "invalid_request",
      () => true,
      (refused) => ({
        ...refused,
        message: `${refused.message}\n    at parseBody (/srv/gateway/src/body.js:41:11)\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)`,
      }),
    ),
  }),
  mutation("body.error-repeats-body", {
    breaks: ["SEC-3", "NO-SECRETS"],
    summary: "The error for a bad body repeats the request's headers.",
    apply: onRefusal(
      "invalid_request",
      () => true,
      (refused, call) => ({
        ...refused,
        message: `${refused.message} Request: ${JSON.stringify(call.arrival.headers)}`,
      }),
    ),
  }),
];
