import { isObject, member } from "../../core/index.ts";
import { type Mutation, mutation } from "../change.ts";
import { badBodyIs500, has, readAs, refuseBody } from "../edits/body-edits.ts";
import { dropsConnection, neverAnswers } from "../edits/connection-edits.ts";
import { insideStream, insteadOf } from "../edits/response-edits.ts";
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
  mutation(
    "body.empty-object-500",
    ["BAD-BODY"],
    "An empty object as body is an internal error.",
    badBodyIs500(nothing),
  ),
  mutation("body.spaces-refused", FORM, "A body that begins with white space is refused.", refuseBody(spaced)),
  mutation("body.surrogates-refused", FORM, "A body with escaped surrogates is refused.", refuseBody(escaped)),
  mutation("body.chunks-refused", FORM, "A body in chunks is refused as unreadable.", refuseBody(bodySays(inChunks))),
  mutation(
    "body.truncated-500",
    CALLER,
    "A body that ends in the middle is an internal error.",
    badBodyIs500(truncated),
  ),
  mutation(
    "body.truncated-drops-connection",
    CALLER,
    "A body that ends in the middle gets no answer: the connection is dropped.",
    dropsConnection(truncated),
  ),
  mutation(
    "body.truncated-hangs",
    [...CALLER, "ANSWER-IN-TIME"],
    "A body that ends in the middle is never answered.",
    neverAnswers(truncated),
  ),
  mutation(
    "body.truncated-is-upstream-error",
    CALLER,
    "A body that ends in the middle is blamed on the provider.",
    onDenial("invalid_request", truncated, insteadOf("upstream_error")),
  ),
  mutation("body.empty-500", [...CALLER, "BAD-BODY"], "An empty body is an internal error.", badBodyIs500(empty)),
  mutation(
    "body.empty-hangs",
    [...CALLER, "BAD-BODY", "ANSWER-IN-TIME"],
    "An empty body is never answered.",
    neverAnswers(empty),
  ),
  mutation(
    "body.not-utf8-500",
    [...CALLER, "BAD-BODY"],
    "A body that is not UTF-8 is an internal error.",
    badBodyIs500(notUtf8),
  ),
  mutation(
    "body.not-utf8-drops-connection",
    [...CALLER, "BAD-BODY"],
    "A body that is not UTF-8 gets no answer: the connection is dropped.",
    dropsConnection(notUtf8),
  ),
  mutation("body.deep-500", ["BAD-BODY"], "A deeply nested body is an internal error.", badBodyIs500(tooDeep)),
  mutation(
    "body.deep-drops-connection",
    ["BAD-BODY"],
    "A deeply nested body ends the worker and with it the connection.",
    dropsConnection(tooDeep),
  ),
  mutation("body.not-object-500", CALLER, "JSON that is not an object is an internal error.", badBodyIs500(notObject)),
  mutation(
    "body.not-object-is-unauthorized",
    [...CALLER, "ERR-401-INVALID"],
    "JSON that is not an object is answered 401 to a good key.",
    onDenial("invalid_request", notObject, insteadOf("invalid_api_key")),
  ),
  mutation(
    "body.model-of-wrong-type-500",
    CALLER,
    "A model that is not a string is an internal error.",
    badBodyIs500(badModel),
  ),
  mutation(
    "body.empty-messages-500",
    CALLER,
    "An empty conversation is an internal error.",
    badBodyIs500(emptyMessages),
  ),
  mutation(
    "body.empty-messages-served",
    CALLER,
    "An empty conversation is answered.",
    readAs(emptyMessages, (body) => ({ ...body, messages: [{ role: "user", content: "Hello!" }] })),
  ),
  mutation(
    "body.messages-of-wrong-type-500",
    CALLER,
    "A conversation that is not an array is an internal error.",
    badBodyIs500(badMessages),
  ),
  mutation(
    "body.messages-text-served",
    CALLER,
    "A conversation that is just a string is answered.",
    readAs(bodySays(has("messages", (turns) => typeof turns === "string")), (body) => ({
      ...body,
      messages: [{ role: "user", content: body["messages"] }],
    })),
  ),
  mutation(
    "body.stream-of-wrong-type-served",
    CALLER,
    "Any value of stream counts as yes or no.",
    readAs(badStream, (body) => ({ ...body, stream: Boolean(body["stream"]) })),
  ),
  mutation(
    "body.turn-without-content-500",
    CALLER,
    "A turn without content is an internal error.",
    badBodyIs500(turnWithoutContent),
  ),
  mutation(
    "body.turn-without-content-served",
    CALLER,
    "A turn without content counts as an empty one.",
    readAs(turnWithoutContent, (body) => ({
      ...body,
      messages: (body["messages"] as Record<string, unknown>[]).map((turn) => ({ content: "", ...turn })),
    })),
  ),
  mutation(
    "body.role-of-wrong-type-500",
    [...CALLER, "BAD-BODY"],
    "A turn whose role is not a string is an internal error.",
    badBodyIs500(badRole),
  ),
  mutation(
    "body.refused-inside-stream",
    ["REFUSED-IN-TIME"],
    "A bad request for a stream gets 200 with the refusal as its first item.",
    onDenial(
      "invalid_request",
      both(streaming, (call) => call.endpoint !== "models"),
      insideStream,
    ),
  ),
  mutation(
    "body.too-large-500",
    ["BAD-BODY"],
    "A body above the limit is an internal error.",
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
    "A body that says in its head that it is above the limit gets no response: the connection is closed without reading it.",
    all(
      wrap("readsBody", (next) => (call) => !saysTooLarge(call) && next(call)),
      dropsConnection(saysTooLarge),
    ),
  ),
  mutation(
    "body.too-large-in-chunks-resets",
    UNANSWERED,
    "A body above the limit that comes in chunks gets no response: the connection is reset.",
    dropsConnection(both(inChunks, tooLarge), "reset"),
  ),
  mutation(
    "body.wrong-type-label-500",
    ["BAD-BODY"],
    "A body that is not labelled as JSON is an internal error.",
    onDenial("unsupported_media_type", () => true, insteadOf("internal_error")),
  ),
  mutation(
    "body.error-shows-stack",
    ["NO-SECRETS"],
    "The refusal of a bad body shows where in the program it was raised.",
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
    "The refusal of a bad body repeats the request's headers.",
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
