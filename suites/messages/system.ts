import { type Check, defineCheck, type RequestSpec, type Response } from "../../src/checks/index.ts";
import { MODES } from "../../src/dialects/index.ts";
import { atLeast, serverError, success } from "../../src/judging/index.ts";
import { assumeControl, sendControl } from "../shared/control-request.ts";
import { judgeNonStreamingReply } from "../shared/judge-reply.ts";
import { inTurns, LONG_TEXT } from "../shared/texts.ts";

export const SYSTEM = "You are a careful assistant. Answer in one short sentence.";

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
    // The whole text: a model may say the name alone, and another time not.
    const says = (answer: Response, name = marker) => answer.replyText?.includes(nameIs(name)) === true;
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
    verdict.should("MSG-7", old !== undefined, false, {
      in: old ?? renamed[0],
      because: "the reply follows the system prompt of another request",
    });
    for (const answer of [short, lines, ...one, ...renamed, ...several, long, longSystem]) {
      verdict.must("MSG-7", answer.status, success, { in: answer, at: "status", because: answer.summary });
      if (answer.admitted && !answer.streamed) judgeNonStreamingReply(verdict, answer);
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
  const { usage = {} } = answer.reply;
  const own = usage["input_tokens"] ?? usage["prompt_tokens"];
  // What is read from or written to a provider's cache is counted apart.
  const cached = ["cache_creation_input_tokens", "cache_read_input_tokens"].map((name) => usage[name] ?? 0);
  return own === undefined ? undefined : cached.reduce((sum, count) => sum + count, own);
}

const systemInMessages = defineCheck({
  id: "messages.system-placement",
  title: "A system item inside messages, and a system prompt in parts",
  covers: ["MSG-8"],
  explains:
    "The specification offers no other place for the system prompt. Whether it is refused, ignored or applied is noted.",
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

export const SYSTEM_PROMPT: readonly Check[] = [systemPrompt, systemInMessages];
