import { isObject, member } from "../../core/index.ts";
import { type Mutation, mutation } from "../change.ts";
import { dropsConnection, neverResponds } from "../edits/connection-edits.ts";
import { badBodyIs500, has, readAs, refuseBody } from "../edits/replies/body-edits.ts";
import { insideStream, insteadOf } from "../edits/replies/response-edits.ts";
import { both, inChunks, onChat, onMessages, streaming, type When } from "../edits/when.ts";
import { all, onDenial, onRefusal, wrap } from "../edits/wrap.ts";
import type { Call } from "../pipeline/behaviour.ts";

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
  mutation("body.empty-object-500", ["BAD-BODY"], "A body that is an empty object gets 500.", badBodyIs500(nothing)),
  mutation("body.spaces-refused", FORM, "A body that begins with white space is rejected.", refuseBody(spaced)),
  mutation("body.surrogates-refused", FORM, "A body with escaped surrogates is rejected.", refuseBody(escaped)),
  mutation("body.chunks-refused", FORM, "A chunked body is rejected as unreadable.", refuseBody(bodySays(inChunks))),
  mutation("body.truncated-500", CALLER, "A truncated body gets 500.", badBodyIs500(truncated)),
  mutation(
    "body.truncated-drops-connection",
    CALLER,
    "A truncated body gets no response: the connection is dropped.",
    dropsConnection(truncated),
  ),
  mutation(
    "body.truncated-hangs",
    [...CALLER, "ANSWER-IN-TIME"],
    "A truncated body never gets a response.",
    neverResponds(truncated),
  ),
  mutation(
    "body.truncated-is-upstream-error",
    CALLER,
    "A truncated body is reported as a provider failure.",
    onDenial("invalid_request", truncated, insteadOf("upstream_error")),
  ),
  mutation("body.empty-500", [...CALLER, "BAD-BODY"], "An empty body gets 500.", badBodyIs500(empty)),
  mutation(
    "body.empty-hangs",
    [...CALLER, "BAD-BODY", "ANSWER-IN-TIME"],
    "An empty body never gets a response.",
    neverResponds(empty),
  ),
  mutation("body.not-utf8-500", [...CALLER, "BAD-BODY"], "A body that is not UTF-8 gets 500.", badBodyIs500(notUtf8)),
  mutation(
    "body.not-utf8-drops-connection",
    [...CALLER, "BAD-BODY"],
    "A body that is not UTF-8 gets no response: the connection is dropped.",
    dropsConnection(notUtf8),
  ),
  mutation("body.deep-500", ["BAD-BODY"], "A deeply nested body gets 500.", badBodyIs500(tooDeep)),
  mutation(
    "body.deep-drops-connection",
    ["BAD-BODY"],
    "A deeply nested body crashes the worker and drops the connection.",
    dropsConnection(tooDeep),
  ),
  mutation("body.not-object-500", CALLER, "JSON that is not an object gets 500.", badBodyIs500(notObject)),
  mutation(
    "body.not-object-is-unauthorized",
    [...CALLER, "ERR-401-INVALID"],
    "JSON that is not an object gets 401 with a valid key.",
    onDenial("invalid_request", notObject, insteadOf("invalid_api_key")),
  ),
  mutation("body.model-of-wrong-type-500", CALLER, "A model that is not a string gets 500.", badBodyIs500(badModel)),
  mutation("body.empty-messages-500", CALLER, "An empty conversation gets 500.", badBodyIs500(emptyMessages)),
  mutation(
    "body.empty-messages-served",
    CALLER,
    "An empty conversation gets a reply.",
    readAs(emptyMessages, (body) => ({ ...body, messages: [{ role: "user", content: "Hello!" }] })),
  ),
  mutation(
    "body.messages-of-wrong-type-500",
    CALLER,
    "A conversation that is not an array gets 500.",
    badBodyIs500(badMessages),
  ),
  mutation(
    "body.messages-text-served",
    CALLER,
    "A conversation that is just a string gets a reply.",
    readAs(bodySays(has("messages", (turns) => typeof turns === "string")), (body) => ({
      ...body,
      messages: [{ role: "user", content: body["messages"] }],
    })),
  ),
  mutation(
    "body.stream-of-wrong-type-served",
    CALLER,
    "Any value of stream is accepted as true or false.",
    readAs(badStream, (body) => ({ ...body, stream: Boolean(body["stream"]) })),
  ),
  mutation(
    "body.turn-without-content-500",
    CALLER,
    "A turn without content gets 500.",
    badBodyIs500(turnWithoutContent),
  ),
  mutation(
    "body.turn-without-content-served",
    CALLER,
    "A turn without content is treated as an empty one.",
    readAs(turnWithoutContent, (body) => ({
      ...body,
      messages: (body["messages"] as Record<string, unknown>[]).map((turn) => ({ content: "", ...turn })),
    })),
  ),
  mutation(
    "body.role-of-wrong-type-500",
    [...CALLER, "BAD-BODY"],
    "A turn whose role is not a string gets 500.",
    badBodyIs500(badRole),
  ),
  mutation(
    "body.refused-inside-stream",
    ["REFUSED-IN-TIME"],
    "An invalid streaming request gets 200 with the error as its first event.",
    onDenial(
      "invalid_request",
      both(streaming, (call) => call.endpoint !== "models"),
      insideStream,
    ),
  ),
  mutation(
    "body.too-large-500",
    ["BAD-BODY"],
    "A body above the limit gets 500.",
    onDenial("request_too_large", () => true, insteadOf("internal_error")),
  ),
  mutation(
    "body.too-large-resets",
    UNANSWERED,
    "A body above the limit gets no response: the connection is reset.",
    dropsConnection(tooLarge, "reset"),
  ),
  mutation(
    "body.too-large-unread",
    UNANSWERED,
    "A body whose Content-Length is above the limit gets no response: the connection is closed without reading it.",
    all(
      wrap("readsBody", (next) => (call) => !saysTooLarge(call) && next(call)),
      dropsConnection(saysTooLarge),
    ),
  ),
  mutation(
    "body.too-large-in-chunks-resets",
    UNANSWERED,
    "A chunked body above the limit gets no response: the connection is reset.",
    dropsConnection(both(inChunks, tooLarge), "reset"),
  ),
  mutation(
    "body.wrong-type-label-500",
    ["BAD-BODY"],
    "A body without a JSON content type gets 500.",
    onDenial("unsupported_media_type", () => true, insteadOf("internal_error")),
  ),
  mutation(
    "body.error-shows-stack",
    ["NO-SECRETS"],
    "The error for a bad body contains a stack trace.",
    onRefusal(
      "invalid_request",
      () => true,
      (refused) => ({
        ...refused,
        message: `${refused.message}\n    at parseBody (/srv/gateway/src/body.js:41:11)\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)`,
      }),
    ),
  ),
  mutation(
    "body.error-repeats-body",
    ["SEC-3", "NO-SECRETS"],
    "The error for a bad body repeats the request's headers.",
    onRefusal(
      "invalid_request",
      () => true,
      (refused, call) => ({
        ...refused,
        message: `${refused.message} Request: ${JSON.stringify(call.arrival.headers)}`,
      }),
    ),
  ),
];
