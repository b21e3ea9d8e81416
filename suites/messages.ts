import {
  atLeast,
  atMost,
  type Check,
  callerError,
  defineCheck,
  isTimedOut,
  type RequestSpec,
  type Response,
  serverError,
  success,
  that,
} from "../src/checks/index.ts";
import { isObject } from "../src/core/index.ts";
import { MODES } from "../src/dialects/index.ts";
import { assumeControl, sendControl } from "./shared/control-request.ts";
import { everyText } from "./shared/every-text.ts";
import { everyUsage } from "./shared/every-usage.ts";
import { everyWhole } from "./shared/every-whole.ts";
import { judgeWholeReply } from "./shared/judge-reply.ts";
import { AMPLE_TOKENS, inTurns, LONG_TEXT, MULTIBYTE_TEXT, SPECIAL_TEXT } from "./shared/texts.ts";

const minimal = defineCheck({
  id: "messages.minimal",
  title: "model, max_tokens and messages are enough, and the reply is where it belongs",
  covers: ["MSG-1", "MSG-2", "MSG-3", "ERR-200-1", "MSG-15"],
  explains:
    "Sends the three required fields with the version header. The reply is an object of this dialect with text in a text block of `content` and token counts in `usage`; it is not a chat-completions object.",
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
    if (replies.length === 0) return verdict.notApplicable("the target has no slow model");
    if (axes.case === "slow-model" && replies.some(({ exchange }) => isTimedOut(exchange)))
      return verdict.inconclusive("the slow model is slower than the target's time-outs");
    for (const reply of replies) judgeWholeReply(verdict, reply);
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
  explains: "Text beyond ASCII, quotes and control characters, long text: all must be served.",
  across: { case: Object.keys(TEXTS) },
  cost: { requests: 1 },
  async run(t) {
    return {
      reply: await t.send({ endpoint: "messages", prompt: `${TEXTS[t.case]} ${t.nonce()}`, maxTokens: AMPLE_TOKENS }),
    };
  },
  judge({ reply }, verdict) {
    judgeWholeReply(verdict, reply);
  },
});

const maxTokensIsMandatory = defineCheck({
  id: "messages.max-tokens-mandatory",
  title: "A body without max_tokens is refused",
  covers: ["MSG-4", "MSG-5"],
  explains:
    "max_tokens is mandatory: without it there must be no generated reply, streaming or not, with a system text or without, and the refusal should be a 4xx. A silent default bills callers for lengths that they did not ask for.",
  across: { mode: MODES },
  cost: { requests: 4 },
  async run(t) {
    const control = await sendControl(t, { endpoint: "messages" });
    const request: RequestSpec = { endpoint: "messages", omit: ["max_tokens"], intent: "odd" };
    return {
      control,
      refused: [
        await t.send(request),
        await t.send({ ...request, freshConnection: true }),
        await t.send({ ...request, fields: { system: "Answer briefly." } }),
      ],
    };
  },
  judge({ control, refused }, verdict) {
    assumeControl(verdict, control);
    for (const answer of refused) {
      const seen = { in: answer, at: "status", because: answer.summary };
      verdict.must(
        "MSG-4",
        answer.status,
        that("anything but 2xx", (value) => !success.test(value)),
        seen,
      );
      verdict.should("MSG-5", answer.status, callerError, seen);
    }
  },
});

const BAD_LIMITS: Readonly<Record<string, unknown>> = {
  string: "16",
  fraction: 1.5,
  negative: -1,
  zero: 0,
  boolean: true,
  null: null,
};

const maxTokensIsAnInteger = defineCheck({
  id: "messages.max-tokens-type",
  title: "A max_tokens that is no positive integer is refused as the caller's error",
  covers: ["MSG-5"],
  explains:
    "max_tokens is an integer. A text, a fraction, a negative number, zero, true and null should be 4xx rather than 5xx or a reply.",
  across: { mode: MODES, case: Object.keys(BAD_LIMITS) },
  cost: { requests: 2 },
  async run(t) {
    const control = await sendControl(t, { endpoint: "messages" });
    return {
      control,
      refused: await t.send({ endpoint: "messages", fields: { max_tokens: BAD_LIMITS[t.case] }, intent: "odd" }),
    };
  },
  judge({ control, refused }, verdict) {
    assumeControl(verdict, control);
    verdict.should("MSG-5", refused.status, callerError, { in: refused, at: "status", because: refused.summary });
  },
});

/** The output bound of the short reply, tokens; and from how many characters on a reply counts as long. */
const SHORT_LIMIT = 8;
const LONG_REPLY = 400;

const maxTokensBounds = defineCheck({
  id: "messages.max-tokens-bounds",
  title: "max_tokens bounds the output",
  covers: ["MSG-6"],
  explains:
    "The same long-answer prompt with a large limit and with a limit of 8 tokens, also as the last turn of a conversation and with a system prompt. The short reply should be much shorter, and an output count in usage should not exceed the limit. Judged only when the unbounded reply is long.",
  across: { mode: MODES },
  cost: { requests: 6 },
  async run(t) {
    const prompt = `Count from one to two hundred in words. ${Array.from({ length: 200 }, (_, i) => `number${i}`).join(" ")}`;
    const request: RequestSpec = { endpoint: "messages", prompt };
    const control = await sendControl(t, { ...request, maxTokens: 2_000 });
    return {
      control,
      short: [
        await t.send({ ...request, maxTokens: SHORT_LIMIT }),
        await t.send({ ...request, maxTokens: SHORT_LIMIT, freshConnection: true }),
        await t.send({ ...request, maxTokens: SHORT_LIMIT, prompt: inTurns(prompt) }),
        await t.send({ ...request, maxTokens: SHORT_LIMIT, system: SYSTEM }),
      ],
    };
  },
  judge({ control, short }, verdict) {
    assumeControl(verdict, control);
    const long = control.control.replyText?.length ?? 0;
    for (const answer of short) {
      verdict.assumeGood(answer, "the request with a small limit");
      const count = outputCount(answer);
      if (count !== undefined)
        verdict.should("MSG-6", count, atMost(SHORT_LIMIT), {
          in: answer,
          at: "/usage",
          because: "output tokens counted",
        });
      if (long >= LONG_REPLY && answer.replyText !== undefined) {
        verdict.should("MSG-6", answer.replyText.length, atMost(Math.floor(long / 2)), {
          in: answer,
          because: `characters of reply; ${long} with a limit of 2,000 tokens`,
        });
      }
    }
    if (verdict.findings.length === 0) verdict.notApplicable("the reply is not long enough to be bounded");
  },
});

/** An output count, where one can be recognised. In streams the last one counts: usage there is cumulative. */
function outputCount(answer: Response): number | undefined {
  const names = ["output_tokens", "completion_tokens"];
  const sources = answer.streamed ? answer.stream.events.map(({ json }) => json) : [answer.json];
  const counts = sources.flatMap((json) => {
    const usage = isObject(json) ? json["usage"] : undefined;
    return isObject(usage) ? names.map((name) => usage[name]).filter((count) => typeof count === "number") : [];
  });
  return counts.at(-1);
}

const SYSTEM = "You are a careful assistant. Answer in one short sentence.";
const nameIs = (name: string): string => `${SYSTEM} Your name is ${name}.`;

const systemPrompt = defineCheck({
  id: "messages.system",
  title: "The system prompt goes in the top-level system field",
  covers: ["MSG-7", "MSG-1", "MSG-2", "MSG-3", "ERR-200-1"],
  explains:
    "The same conversation with a top-level `system` string, with a short and with a long conversation, streaming and non-streaming, must be served, also one of several lines; an empty one is no server error. A model that says the system text back in one turn should not lose it in a conversation, nor say that of an earlier request with the same prompt. Where input counts follow the length of the prompt, they should also grow with a long system prompt: otherwise it was dropped.",
  across: { mode: MODES },
  cost: { requests: 15 },
  async run(t) {
    const request: RequestSpec = { endpoint: "messages" };
    const control = await sendControl(t, request);
    const marker = t.nonce();
    const marked: RequestSpec = { ...request, system: nameIs(marker) };
    const otherMarker = t.nonce();
    const renamed: RequestSpec = { ...request, system: nameIs(otherMarker), prompt: "three" };
    const turns = Array.from({ length: 21 }, (_, i) => ({
      role: i % 2 === 0 ? "user" : "assistant",
      content: `${i} ${LONG_TEXT.slice(0, 2_000)}`,
    }));
    return {
      control,
      marker,
      one: [await t.send({ ...marked, prompt: "three" }), await t.send({ ...marked, prompt: "three" })],
      otherMarker,
      renamed: [await t.send(renamed), await t.send(renamed)],
      several: [
        await t.send({ ...marked, prompt: inTurns("three") }),
        await t.send({ ...marked, prompt: inTurns("three") }),
      ],
      lines: await t.send({ ...request, system: `${SYSTEM}\n\n- Be kind.\r\n\t- Be brief.\n` }),
      empty: await t.send({ ...request, system: "", intent: "odd" }),
      short: await t.send({ ...request, system: SYSTEM }),
      long: await t.send({ ...request, system: SYSTEM, prompt: turns }),
      plain: await t.send({ ...request, prompt: "hello" }),
      longPrompt: await t.send({ ...request, prompt: `hello ${LONG_TEXT}` }),
      longSystem: await t.send({ ...request, prompt: "hello", system: LONG_TEXT }),
    };
  },
  judge(recording, verdict) {
    const {
      control,
      marker,
      otherMarker,
      one,
      renamed,
      several,
      lines,
      empty,
      short,
      long,
      plain,
      longPrompt,
      longSystem,
    } = recording;
    assumeControl(verdict, control);
    verdict.should("MSG-7", serverError.test(empty.status), false, { in: empty, at: "status", because: empty.summary });
    const says = (answer: Response, name = marker) => answer.replyText?.includes(name) === true;
    if (one.every((answer) => says(answer))) {
      verdict.should(
        "MSG-7",
        several.some((answer) => says(answer)),
        true,
        {
          in: several[0],
          because: "the system text, which replies to one turn say back, in replies to several turns",
        },
      );
      verdict.should(
        "MSG-7",
        renamed.some((answer) => says(answer, otherMarker)),
        true,
        {
          in: renamed[0],
          because: "the system text, which replies say back, in replies to the same prompt under another one",
        },
      );
    }
    const old = renamed.find((answer) => says(answer));
    verdict.should("MSG-7", old === undefined, true, {
      in: old ?? renamed[0],
      because: "only the system text of the request itself has a say",
    });
    for (const answer of [short, lines, ...one, ...renamed, ...several, long, longSystem]) {
      verdict.must("MSG-7", answer.status, success, { in: answer, at: "status", because: answer.summary });
      if (answer.admitted && !answer.streamed) judgeWholeReply(verdict, answer);
    }
    const [base, byPrompt, bySystem] = [plain, longPrompt, longSystem].map(inputCount);
    if (base === undefined || byPrompt === undefined || bySystem === undefined) return;
    // Only a gateway whose counts follow the input says anything by them.
    if (byPrompt < base + 100) return;
    verdict.should("MSG-7", bySystem, atLeast(base + Math.floor((byPrompt - base) / 4)), {
      in: longSystem,
      at: "/usage",
      because: `input tokens with a long system prompt; ${base} without it, ${byPrompt} with as long a user turn`,
    });
  },
});

function inputCount(answer: Response): number | undefined {
  const names = ["input_tokens", "prompt_tokens"];
  return names.map((name) => answer.reply.usage?.[name]).find((count) => count !== undefined);
}

const systemElsewhere = defineCheck({
  id: "messages.system-placement",
  title: "A system item inside messages, and a system prompt in parts",
  covers: ["MSG-8"],
  explains: "No other place is offered for the system prompt. Whether it is refused, ignored or applied is noted.",
  across: { case: ["system-item", "array-system"] },
  cost: { requests: 1 },
  async run(t) {
    const fields =
      t.case === "system-item"
        ? {
            messages: [
              { role: "system", content: SYSTEM },
              { role: "user", content: "hello" },
            ],
          }
        : { system: [{ type: "text", text: SYSTEM }] };
    return { answer: await t.send({ endpoint: "messages", fields, intent: "odd" }) };
  },
  judge({ answer }, verdict) {
    verdict.observe("MSG-8", answer.summary, { in: answer });
  },
});

const requiredFields = defineCheck({
  id: "messages.required-fields",
  title: "model and messages are required",
  covers: ["MSG-9"],
  explains: "A body without one of them should be refused as the caller's error: 4xx and no reply.",
  across: { mode: MODES, case: ["model", "messages"] },
  cost: { requests: 2 },
  async run(t) {
    const control = await sendControl(t, { endpoint: "messages" });
    return { control, refused: await t.send({ endpoint: "messages", omit: [t.case], intent: "odd" }) };
  },
  judge({ control, refused }, verdict) {
    assumeControl(verdict, control);
    verdict.should("MSG-9", refused.status, callerError, { in: refused, at: "status", because: refused.summary });
  },
});

export const MESSAGES: readonly Check[] = [
  everyUsage("messages"),
  everyText("messages"),
  everyWhole("messages"),
  minimal,
  anyText,
  maxTokensIsMandatory,
  maxTokensIsAnInteger,
  maxTokensBounds,
  systemPrompt,
  systemElsewhere,
  requiredFields,
];
