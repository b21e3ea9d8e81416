import { type Check, defineCheck, type RequestSpec } from "../src/checks/index.ts";
import { MODES } from "../src/dialects/index.ts";
import { aReply, callerError, success, that } from "../src/judging/index.ts";
import { everyNonStreaming } from "./shared/cases/every-non-streaming.ts";
import { everyText } from "./shared/cases/every-text.ts";
import { everyUsage } from "./shared/cases/every-usage.ts";
import { isCutByUs } from "./shared/judge/cut-by-us.ts";
import { judgeNonStreamingReply, judgeReplies } from "./shared/judge/judge-reply.ts";
import { repliesDifferByPrompt } from "./shared/judge/one-reply-to-all.ts";
import { servedAsSdksSend } from "./shared/requests/as-sdks-send.ts";
import { inTurns, LONG_TEXT, MULTIBYTE_TEXT, SPECIAL_TEXT } from "./shared/requests/texts.ts";

const minimal = defineCheck({
  id: "chat.minimal",
  title: "A body with only model and messages is enough, and the reply has the expected fields",
  covers: ["CHAT-1", "CHAT-2", "CHAT-3", "ERR-200-1"],
  explains:
    "Sends only the two required fields, several times. The reply must be a JSON object with text at choices[0].message.content and token counts in usage. A failure with a sensible error message usually means a hidden required field.",
  across: { case: ["plain", "fresh-connection", "second-turn", "slow-model"] },
  cost: { requests: 3 },
  async run(t) {
    const request: RequestSpec =
      t.case === "second-turn"
        ? {
            prompt: inTurns(`three ${t.nonce()}`),
          }
        : { freshConnection: t.case === "fresh-connection" };
    if (t.case === "slow-model")
      return { replies: (await t.hasModel("slow")) ? [await t.send({ model: "slow" })] : [] };
    return { replies: [await t.send(request), await t.send(request), await t.send(request)] };
  },
  judge({ replies }, verdict, axes) {
    judgeReplies(verdict, replies, axes.case === "slow-model");
  },
});

const CONVERSATIONS: Readonly<Record<string, (nonce: string) => RequestSpec["prompt"] & {}>> = {
  "one-turn": (nonce) => `Hello ${nonce}`,
  "three-turns": (nonce) => [
    { role: "user", content: "My number is 7." },
    { role: "assistant", content: "Noted." },
    { role: "user", content: `Say it again. ${nonce}` },
  ],
  "eleven-turns": (nonce) =>
    Array.from({ length: 11 }, (_, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: `turn ${index} ${nonce}`,
    })),
  "non-ascii": (nonce) => `${MULTIBYTE_TEXT} ${nonce}`,
  "special-characters": (nonce) => `${SPECIAL_TEXT} ${nonce}`,
  long: (nonce) => `${LONG_TEXT} ${nonce}`,
};

const conversations = defineCheck({
  id: "chat.conversation",
  title: "Conversations with one or several turns and any text are accepted",
  covers: ["CHAT-4", "CHAT-2"],
  explains:
    "Sends items with a role and string content: one turn, several turns, text beyond ASCII, quotes and control characters, long text. All must be served, streaming and non-streaming.",
  across: { mode: MODES, case: Object.keys(CONVERSATIONS) },
  cost: { requests: 2 },
  async run(t) {
    const prompt = CONVERSATIONS[t.case]?.(t.nonce()) ?? "";
    return { first: await t.send({ prompt }), second: await t.send({ prompt }) };
  },
  judge({ first, second }, verdict) {
    for (const response of [first, second]) {
      const seen = { in: response };
      if (!verdict.must("CHAT-4", response.status, success, { ...seen, at: "status" })) continue;
      if (isCutByUs(response)) return verdict.inconclusive(`the reply is longer than a run keeps: ${response.summary}`);
      verdict.must("CHAT-4", response.admitted, aReply, seen);
      if (!response.streamed)
        verdict.must("CHAT-2", typeof response.reply.text === "string" && response.reply.text !== "", true, {
          ...seen,
          at: "/choices/0/message/content",
        });
    }
  },
});

/** Requests for a non-streaming reply. */
const NON_STREAMING: Readonly<Record<string, RequestSpec>> = {
  absent: {},
  false: { stream: false },
  "accepts-streams": { headers: [["Accept", "application/json, text/event-stream"]] },
};

const notStreamed = defineCheck({
  id: "chat.non-streaming",
  title: "Without stream: true the reply is one document",
  covers: ["CHAT-7", "CHAT-1", "CHAT-2", "CHAT-3", "ERR-200-1"],
  explains:
    "A request without `stream`, or with `stream: false`, must get a non-streaming reply: one JSON document, not an event stream. This holds even if Accept lists event streams as well as JSON: only `stream` decides. A failure means that clients that cannot read streams get one.",
  across: { case: Object.keys(NON_STREAMING) },
  cost: { requests: 3 },
  async run(t) {
    const request = NON_STREAMING[t.case] ?? {};
    return {
      replies: [await t.send(request), await t.send({ ...request, freshConnection: true }), await t.send(request)],
    };
  },
  judge({ replies }, verdict, axes) {
    for (const response of replies) {
      if (axes.case !== "accepts-streams") verdict.requireControl(response, "a plain request");
      else if (!verdict.must("CHAT-1", response.status, success, { in: response, at: "status" })) continue;
      const framing = that("one JSON document", (value) => value === "single-json");
      const seen = { in: response, because: response.text.slice(0, 80) };
      // A stream would fail every other expectation as well.
      if (!verdict.must("CHAT-7", response.stream.framing, framing, seen)) continue;
      verdict.must("CHAT-7", response.reply.parts !== undefined, true, { in: response, at: "/choices" });
      judgeNonStreamingReply(verdict, response);
    }
  },
});

const REQUIRED: Readonly<Record<string, "CHAT-5" | "CHAT-6">> = { model: "CHAT-5", messages: "CHAT-6" };

const requiredFields = defineCheck({
  id: "chat.required-fields",
  title: "model and messages are required",
  covers: ["CHAT-5", "CHAT-6"],
  explains:
    "A body without one of them should be rejected as the caller's error (4xx; the status is recorded). A missing `messages` must not be reported as model_not_found when the model is enabled.",
  across: { mode: MODES, case: Object.keys(REQUIRED) },
  cost: { requests: 2 },
  async run(t) {
    return { control: await t.control(), refused: await t.send({ omit: [t.case], intent: "invalid" }) };
  },
  judge({ control, refused }, verdict, axes) {
    verdict.requireControl(control);
    const requirement = REQUIRED[axes.case ?? ""] ?? "CHAT-5";
    verdict.should(requirement, refused.status, callerError, { in: refused, at: "status" });
    if (requirement === "CHAT-6") {
      verdict.should(requirement, refused.reason === "model_not_found", false, {
        in: refused,
        at: "reason",
        because: "the model is enabled",
      });
    }
  },
});

const UNREADABLE: Readonly<Record<string, RequestSpec>> = {
  truncated: { rawBody: '{"model": "x", "messages": [{"role": "user", "cont' },
  empty: { rawBody: "" },
  "not-json": { rawBody: "model=x&messages=hello" },
  null: { rawBody: "null" },
  string: { rawBody: '"hello"' },
  number: { rawBody: "42" },
  array: { rawBody: "[]" },
  "invalid-utf8": { rawBody: Buffer.from([0x7b, 0x22, 0x6d, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]) },
  "messages-is-a-string": { fields: { messages: "hello" } },
  "messages-is-an-object": { fields: { messages: { role: "user", content: "hello" } } },
  "messages-is-empty": { fields: { messages: [] } },
  "message-is-a-string": { fields: { messages: ["hello"] } },
  "message-is-null": { fields: { messages: [null] } },
  "message-without-content": { fields: { messages: [{ role: "user" }] } },
  "content-is-a-number": { fields: { messages: [{ role: "user", content: 42 }] } },
  "model-is-a-number": { fields: { model: 42 } },
  "model-is-an-object": { fields: { model: {} } },
  "stream-is-a-list": { fields: { stream: [] } },
  "role-is-a-number": { fields: { messages: [{ role: 42, content: "hello" }] } },
};

const unreadableBody = defineCheck({
  id: "chat.unreadable-body",
  title: "A body that cannot be parsed is the caller's error",
  covers: ["CHAT-10"],
  explains:
    "Bodies that are truncated, not JSON, not an object or have the wrong types should be rejected with a 4xx (the status is recorded), not served, dropped or turned into a 5xx: a 5xx makes callers retry a request that can never succeed.",
  across: { mode: MODES, case: Object.keys(UNREADABLE) },
  cost: { requests: 1 },
  async run(t) {
    return { refused: await t.send({ ...UNREADABLE[t.case], intent: "invalid" }) };
  },
  judge({ refused }, verdict) {
    verdict.should("CHAT-10", refused.status, callerError, { in: refused, at: "status" });
    verdict.should("CHAT-10", refused.exchange.ending.kind, "complete", { in: refused, at: "ending" });
  },
});

const OPTIONAL: Readonly<Record<string, RequestSpec>> = {
  "array-content": { prompt: [], fields: { messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }] } },
  "null-content-with-tool-calls": {
    fields: {
      messages: [
        { role: "user", content: "hello" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "call_1", content: "ok" },
      ],
    },
  },
  "empty-assistant-content": {
    fields: {
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: "" },
        { role: "user", content: "b" },
      ],
    },
  },
  "system-turn": {
    fields: {
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hello" },
      ],
    },
  },
  "sampling-parameters": { fields: { temperature: 0.2, top_p: 0.9 } },
  "two-choices": { fields: { n: 2 } },
  "unknown-parameter": { fields: { gauntlet_unknown: true } },
};

const optionalParameters = defineCheck({
  id: "chat.optional",
  title: "Optional parameters and other content formats",
  covers: ["CHAT-9"],
  explains:
    "The specification does not say whether these are accepted. The response is recorded, a 5xx prominently, but not judged.",
  across: { case: Object.keys(OPTIONAL) },
  cost: { requests: 1 },
  async run(t) {
    return { response: await t.send({ ...OPTIONAL[t.case], intent: "invalid" }) };
  },
  judge({ response }, verdict) {
    verdict.observe("CHAT-9", response.summary, {
      in: response,
      ...((response.status ?? 0) >= 500 ? { because: "a server error for a legal body" } : {}),
    });
  },
});

export const CHAT: readonly Check[] = [
  everyUsage("chat"),
  everyText("chat"),
  everyNonStreaming("chat"),
  repliesDifferByPrompt("chat"),
  minimal,
  conversations,
  notStreamed,
  requiredFields,
  unreadableBody,
  optionalParameters,
  servedAsSdksSend("chat"),
];
