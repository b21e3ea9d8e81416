import type { Check, RequestSpec, Response, Session } from "../../src/checks/index.ts";
import { listOf, member } from "../../src/core/index.ts";
import { type Dialect, type Mode, toolsOf } from "../../src/dialects/index.ts";
import { aReply } from "../../src/judging/index.ts";
import { ONE_TOOL, TWO_TOOLS } from "../shared/requests/tools.ts";
import { defineCompat } from "./define-compat.ts";
import { chatChoice, judgeCalls, judgeChatStream, judgeMessagesStream } from "./tool-calls.ts";

const PROMPT = "What is the weather in Paris? Use the tool.";

async function askForTools(t: Session, dialect: Dialect) {
  const request = askWithTools(dialect, PROMPT, ONE_TOOL);
  const { nonStreaming, streams } = await someOfEach(t, dialect, request, 2);
  const [first] = nonStreaming;
  const result = first === undefined ? null : await returnToolResult(t, dialect, first, request);
  return { nonStreaming, streams, result };
}

function askWithTools(dialect: Dialect, prompt: string, tools: Readonly<Record<string, string>>): RequestSpec {
  return { endpoint: dialect, model: "tools", prompt, fields: { tools: toolsOf(dialect, tools) }, intent: "any" };
}

/**
 * As many non-streaming replies as streams; none if the dialect does not stream, which other checks judge.
 */
async function someOfEach(t: Session, dialect: Dialect, request: RequestSpec, count: number) {
  const plain = await t.send({ endpoint: dialect, mode: "streaming", intent: "invalid" });
  const several = async (mode: Mode): Promise<Response[]> => {
    const responses: Response[] = [];
    for (let sent = 0; sent < count; sent++) responses.push(await t.send({ ...request, mode }));
    return responses;
  };
  return { nonStreaming: await several("non-streaming"), streams: plain.streamed ? await several("streaming") : [] };
}

/** Continues the conversation: the model's call, and the result of the tool. */
async function returnToolResult(
  t: Session,
  dialect: Dialect,
  first: Response,
  request: RequestSpec,
): Promise<Response | null> {
  const calls = first.reply.toolCalls;
  if (calls.length === 0) return null;
  const user = { role: "user", content: PROMPT };
  const messages =
    dialect === "chat"
      ? [
          user,
          member(chatChoice(first.json), "message"),
          ...calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "18 degrees" })),
        ]
      : [
          user,
          { role: "assistant", content: knownBlocks(first) },
          {
            role: "user",
            content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "18 degrees" })),
          },
        ];
  return t.send({ ...request, fields: { ...request.fields, messages } });
}

/** Vendor-specific blocks are omitted: this check is not about whether the gateway accepts them. */
function knownBlocks(first: Response): readonly unknown[] {
  return listOf(member(first.json, "content")).filter((block) =>
    ["text", "tool_use"].includes(String(member(block, "type"))),
  );
}

const EXPLAINS =
  "Requests a tool call from a model, streaming and non-streaming, and continues the conversation with the tool's result. Calls must have an id, a name once, and arguments that join to a JSON object; the finish reason must announce the call. Agents stop at the first error in any of these.";

const TITLES = { chat: "Tool calls in the chat dialect", messages: "Tool use in the messages dialect" };
const FINISH = {
  chat: { word: "tool_calls", at: "/choices/0/finish_reason" },
  messages: { word: "tool_use", at: "/stop_reason" },
};
const JUDGE_STREAM = { chat: judgeChatStream, messages: judgeMessagesStream };

function tools(dialect: Dialect): Check {
  return defineCompat(dialect, {
    id: `compat.${dialect}-tools`,
    title: TITLES[dialect],
    covers: ["COMPAT-TOOLS", "COMPAT-TOOL-RESULT", ...(dialect === "chat" ? [] : (["COMPAT-MSG-EVENTS"] as const))],
    explains: EXPLAINS,
    needs: ["model.tools"],
    cost: { requests: 6 },
    run: (t) => askForTools(t, dialect),
    judge({ nonStreaming, streams, result }, verdict) {
      const [first] = nonStreaming;
      for (const response of nonStreaming) {
        if (!verdict.compat("COMPAT-TOOLS", response.admitted, aReply, { in: response })) continue;
        judgeCalls(response.reply.toolCalls, response, verdict, "non-streaming reply");
        const { word, at } = FINISH[dialect];
        verdict.compat("COMPAT-TOOLS", response.reply.finishReason, word, { in: response, at });
      }
      const expected = first === undefined ? 0 : first.reply.toolCalls.length;
      for (const response of streams) {
        const served = response.admitted && (dialect === "chat" || response.streamed);
        if (verdict.compat("COMPAT-TOOLS", served, aReply, { in: response }))
          JUDGE_STREAM[dialect](response, verdict, expected);
      }
      if (result !== null) verdict.compat("COMPAT-TOOL-RESULT", result.admitted, aReply, { in: result });
    },
  });
}

/** Enough that a model that calls both tools most of the time hardly differs by chance. */
const OF_EACH = 4;
const PARALLEL_PROMPT = "What are the weather and the local time in Paris? Use both tools at once.";

/** Two tools that are both needed. Whether a model calls both is up to the model; that nothing is lost on the way is not. */
function parallelTools(dialect: Dialect): Check {
  return defineCompat(dialect, {
    id: `compat.${dialect}-parallel-tools`,
    title: "Several tool calls in one reply stay separate",
    covers: dialect === "chat" ? ["COMPAT-TOOLS"] : ["COMPAT-TOOLS", "COMPAT-MSG-EVENTS"],
    explains:
      "Sends two tools and a prompt that needs both, streaming and non-streaming, four times each. Every call must have a unique id, its name once and its own arguments; the index of each fragment must say which call it belongs to. Where the non-streaming replies agree on the number of calls and so do the streams, both numbers must be the same.",
    needs: ["model.tools"],
    cost: { requests: 9 },
    run: (t) => someOfEach(t, dialect, askWithTools(dialect, PARALLEL_PROMPT, TWO_TOOLS), OF_EACH),
    judge({ nonStreaming, streams }, verdict) {
      const judgeStream = JUDGE_STREAM[dialect];
      for (const response of [...nonStreaming, ...streams])
        verdict.compat("COMPAT-TOOLS", response.admitted, aReply, { in: response });
      const inReplies = nonStreaming.filter(({ admitted }) => admitted).map(({ reply }) => reply.toolCalls.length);
      for (const response of nonStreaming)
        if (response.admitted) judgeCalls(response.reply.toolCalls, response, verdict, "non-streaming reply");
      const inStreams = streams
        .filter(({ admitted, streamed }) => admitted && streamed)
        .map((response) => judgeStream(response, verdict, 0));
      const [some, ...others] = [new Set(inReplies), new Set(inStreams)].map((counts) =>
        counts.size === 1 ? [...counts][0] : undefined,
      );
      const [other] = others;
      if (some !== undefined && other !== undefined)
        verdict.compat("COMPAT-TOOLS", other, some, {
          in: streams[0],
          because: "calls in the stream, as in the non-streaming reply",
        });
    },
  });
}

export const TOOL_COMPAT: readonly Check[] = [
  tools("chat"),
  tools("messages"),
  parallelTools("chat"),
  parallelTools("messages"),
];
