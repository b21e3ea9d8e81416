import { type Check, defineCheck, type RequestSpec } from "../../src/checks/index.ts";
import { isObject } from "../../src/core/index.ts";
import { MODES } from "../../src/dialects/index.ts";
import { callerError } from "../../src/judging/index.ts";
import { everyNonStreaming } from "../shared/cases/every-non-streaming.ts";
import { everyText } from "../shared/cases/every-text.ts";
import { everyUsage } from "../shared/cases/every-usage.ts";
import { judgeNonStreamingReply, judgeReplies } from "../shared/judge/judge-reply.ts";
import { assumeControl, sendControl } from "../shared/requests/control-request.ts";
import { AMPLE_TOKENS, inTurns, LONG_TEXT, MULTIBYTE_TEXT, SPECIAL_TEXT } from "../shared/requests/texts.ts";

const minimal = defineCheck({
  id: "messages.minimal",
  title: "model, max_tokens and messages are enough, and the reply has the expected fields",
  covers: ["MSG-1", "MSG-2", "MSG-3", "ERR-200-1", "MSG-15"],
  explains:
    "Sends only the three required fields with the version header. The reply must be an object of this dialect with text in a text block of `content` and token counts in `usage`, not a chat-completions object.",
  dialect: "messages",
  across: { case: ["plain", "fresh-connection", "three-turns", "slow-model"] },
  cost: { requests: 3 },
  async run(t) {
    const request: RequestSpec = {
      endpoint: "messages",
      freshConnection: t.case === "fresh-connection",
      ...(t.case === "three-turns"
        ? {
            prompt: inTurns(`three ${t.nonce()}`),
          }
        : {}),
    };
    if (t.case === "slow-model")
      return { replies: (await t.hasModel("slow")) ? [await t.send({ ...request, model: "slow" })] : [] };
    return { replies: [await t.send(request), await t.send(request), await t.send(request)] };
  },
  judge({ replies }, verdict, axes) {
    judgeReplies(verdict, replies, axes.case === "slow-model");
    const [first] = replies;
    if (first !== undefined && isObject(first.json)) verdict.observe("MSG-15", Object.keys(first.json), { in: first });
  },
});

const TEXTS: Readonly<Record<string, string>> = {
  "non-ascii": MULTIBYTE_TEXT,
  "special-characters": SPECIAL_TEXT,
  long: LONG_TEXT,
};

const anyText = defineCheck({
  id: "messages.conversation",
  title: "Any text is accepted in the conversation",
  covers: ["MSG-1", "MSG-2", "MSG-3", "ERR-200-1"],
  explains: "Sends text beyond ASCII, quotes and control characters, and long text: all must be served.",
  across: { case: Object.keys(TEXTS) },
  cost: { requests: 1 },
  async run(t) {
    return {
      reply: await t.send({ endpoint: "messages", prompt: `${TEXTS[t.case]} ${t.nonce()}`, maxTokens: AMPLE_TOKENS }),
    };
  },
  judge({ reply }, verdict) {
    judgeNonStreamingReply(verdict, reply);
  },
});

const requiredFields = defineCheck({
  id: "messages.required-fields",
  title: "model and messages are required",
  covers: ["MSG-9"],
  explains: "A body without one of them should be rejected as the caller's error: 4xx and no reply.",
  across: { mode: MODES, case: ["model", "messages"] },
  cost: { requests: 2 },
  async run(t) {
    const control = await sendControl(t, { endpoint: "messages" });
    return { control, refused: await t.send({ endpoint: "messages", omit: [t.case], intent: "invalid" }) };
  },
  judge({ control, refused }, verdict) {
    assumeControl(verdict, control);
    verdict.should("MSG-9", refused.status, callerError, { in: refused, at: "status" });
  },
});

export const MESSAGE_REQUESTS: readonly Check[] = [
  everyUsage("messages"),
  everyText("messages"),
  everyNonStreaming("messages"),
  minimal,
  anyText,
  requiredFields,
];
