import { type Check, defineCheck, type RequestSpec, type Response } from "../../src/checks/index.ts";
import { MODES } from "../../src/dialects/index.ts";
import { success } from "../../src/judging/index.ts";
import { judgeNonStreamingReply } from "../shared/judge/judge-reply.ts";
import { assumeControl, sendControl } from "../shared/requests/control-request.ts";
import { inTurns, LONG_TEXT } from "../shared/requests/texts.ts";

export const SYSTEM = "You are a careful assistant. Answer in one short sentence.";

const nameIs = (name: string): string => `${SYSTEM} Your name is ${name}.`;

const systemPrompt = defineCheck({
  id: "messages.system",
  title: "The system prompt goes in the top-level system field",
  covers: ["MSG-7", "MSG-1", "MSG-2", "MSG-3", "ERR-200-1"],
  explains:
    "A request with a top-level `system` string must be served: with a short and a long conversation, streaming and non-streaming, and with a multi-line system prompt. An empty one is sent for `robustness.no-server-error`. No reply may follow the system prompt of an earlier request with the same user turn.",
  across: { mode: MODES },
  cost: { requests: 13 },
  async run(t) {
    const request: RequestSpec = { endpoint: "messages" };
    const control = await sendControl(t, request);
    const marker = t.nonce();
    const marked: RequestSpec = { ...request, system: nameIs(marker) };
    const renamed: RequestSpec = { ...request, system: nameIs(t.nonce()), prompt: "three" };
    const turns = Array.from({ length: 21 }, (_, i) => ({
      role: i % 2 === 0 ? "user" : "assistant",
      content: `${i} ${LONG_TEXT.slice(0, 2_000)}`,
    }));
    return {
      control,
      marker,
      one: [await t.send({ ...marked, prompt: "three" }), await t.send({ ...marked, prompt: "three" })],
      renamed: [await t.send(renamed), await t.send(renamed)],
      several: [
        await t.send({ ...marked, prompt: inTurns("three") }),
        await t.send({ ...marked, prompt: inTurns("three") }),
      ],
      lines: await t.send({ ...request, system: `${SYSTEM}\n\n- Be kind.\r\n\t- Be brief.\n` }),
      empty: await t.send({ ...request, system: "", intent: "invalid" }),
      short: await t.send({ ...request, system: SYSTEM }),
      long: await t.send({ ...request, system: SYSTEM, prompt: turns }),
      longSystem: await t.send({ ...request, prompt: "hello", system: LONG_TEXT }),
    };
  },
  judge(recording, verdict) {
    const { control, marker, one, renamed, several, lines, short, long, longSystem } = recording;
    assumeControl(verdict, control);
    const followsEarlier = ({ replyText }: Response) => replyText?.includes(nameIs(marker)) === true;
    const stale = renamed.find(followsEarlier);
    verdict.must("MSG-7", stale !== undefined, false, {
      in: stale ?? renamed[0],
      because: "the reply follows the system prompt of another request",
    });
    for (const response of [short, lines, ...one, ...renamed, ...several, long, longSystem]) {
      verdict.must("MSG-7", response.status, success, { in: response, at: "status" });
      if (response.admitted && !response.streamed) judgeNonStreamingReply(verdict, response);
    }
  },
});

const systemInMessages = defineCheck({
  id: "messages.system-placement",
  title: "A system item inside messages, and a system prompt in parts",
  covers: ["MSG-8"],
  explains:
    "The specification offers no other place for the system prompt. Whether it is rejected, ignored or applied is recorded.",
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
    return { response: await t.send({ endpoint: "messages", fields, intent: "invalid" }) };
  },
  judge({ response }, verdict) {
    verdict.observe("MSG-8", response.summary, { in: response });
  },
});

export const SYSTEM_PROMPT: readonly Check[] = [systemPrompt, systemInMessages];
