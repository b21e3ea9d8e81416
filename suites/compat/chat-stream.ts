import type { Check, Response } from "../../src/checks/index.ts";
import { atPointer, isObject, member } from "../../src/core/index.ts";
import { isEndMarker, mediaType, type StreamEvent } from "../../src/dialects/index.ts";
import { anArray, anObject, aReply, filledString, oneOf, that, type Verdict } from "../../src/judging/index.ts";
import { aJsonType, anEmptyArray, defineCompat, judgeIds, memberJudge } from "./define-compat.ts";
import { chatChoice } from "./tool-calls.ts";

export const FINISH_REASONS = ["stop", "length", "tool_calls", "content_filter", "function_call"];

const wholeNumber = that("a whole number", Number.isSafeInteger);
const stringOrNothing = that(
  "a string, null or absent",
  (value) => value === undefined || value === null || typeof value === "string",
);
/** Seconds since 1970, real or invented: clients fail on fractions, text, and milliseconds. */
export const inSeconds = that(
  "a time in whole seconds",
  (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 1e11,
);

/** Chunks of a stream: its events before the end marker. That events follow the marker is judged separately. */
function chunksOf({ stream: { events } }: Response): readonly StreamEvent[] {
  const end = events.findIndex(({ raw, json }) => isEndMarker(raw, json));
  return end === -1 ? events : events.slice(0, end);
}

function judgeFraming(response: Response, verdict: Verdict): boolean {
  const { framing, strayBytes } = response.stream;
  const seen = { in: response };
  if (!verdict.compat("COMPAT-FRAMING", framing, "event-stream", seen)) return false;
  verdict.compat("COMPAT-FRAMING", strayBytes, 0, {
    ...seen,
    because: "bytes after the last blank line, or outside of any field",
  });
  const notJson = chunksOf(response).filter(({ json }) => !isObject(json));
  verdict.compat("COMPAT-FRAMING", notJson.length, 0, {
    ...seen,
    because: `data that is no JSON object: ${JSON.stringify(notJson[0]?.raw.slice(0, 60))}`,
  });
  return true;
}

/**
 * Azure's first chunk reports the result of its prompt filter: empty choices, id and object. Clients skip it, because it has no
 * choice.
 */
function isAboutPrompt({ json }: StreamEvent, index: number): boolean {
  const isEmpty = (name: string) => [undefined, ""].includes(member(json, name) as string | undefined);
  return index === 0 && anEmptyArray.test(member(json, "choices")) && isEmpty("id") && isEmpty("object");
}

/** The chunks of the reply itself. */
function replyChunksOf(response: Response): readonly StreamEvent[] {
  return chunksOf(response).filter((chunk, index) => isObject(chunk.json) && !isAboutPrompt(chunk, index));
}

function judgeChunks(response: Response, verdict: Verdict): void {
  const seen = { in: response };
  const chunks = replyChunksOf(response);
  const roles: unknown[] = [];
  for (const { json } of chunks) {
    const judge = memberJudge(response, verdict, json);
    judge("COMPAT-CHAT-CHUNKS", "/object", "chat.completion.chunk");
    judge("COMPAT-CHAT-CHUNKS", "/created", inSeconds);
    judge("COMPAT-CHAT-CHUNKS", "/model", filledString);
    if (!judge("COMPAT-CHAT-CHUNKS", "/choices", anArray)) continue;
    for (const choice of member(json, "choices") as unknown[]) {
      verdict.compat("COMPAT-CHAT-CHUNKS", member(choice, "index"), 0, { ...seen, at: "/choices/0/index" });
      verdict.compat("COMPAT-CHAT-CHUNKS", member(choice, "delta"), anObject, { ...seen, at: "/choices/0/delta" });
      const content = member(member(choice, "delta"), "content");
      verdict.compat("COMPAT-CHAT-CHUNKS", content, stringOrNothing, { ...seen, at: "/choices/0/delta/content" });
      const role = member(member(choice, "delta"), "role");
      if (role !== undefined && role !== null) roles.push(role);
    }
  }
  verdict.compat("COMPAT-CHAT-CHUNKS", roles[0], "assistant", { ...seen, because: "the first role in the stream" });
  const ids = new Set(chunks.map(({ json }) => member(json, "id")));
  verdict.compat("COMPAT-REPLY-ID", ids.size, 1, { ...seen, because: "ids in one stream" });
  verdict.compat("COMPAT-REPLY-ID", [...ids][0], filledString, { ...seen, at: "/id" });
}

function judgeFinish(response: Response, verdict: Verdict): void {
  const seen = { in: response };
  const chunks = chunksOf(response);
  const finishes = chunks.flatMap(({ json }, index) => {
    const reason = member(chatChoice(json), "finish_reason");
    return reason === null || reason === undefined ? [] : [{ reason, index }];
  });
  if (!verdict.compat("COMPAT-CHAT-FINISH", finishes.length, 1, { ...seen, because: "chunks with a finish reason" }))
    return;
  const [finish] = finishes;
  verdict.compat("COMPAT-CHAT-FINISH", finish?.reason, oneOf(...FINISH_REASONS), {
    ...seen,
    at: "/choices/0/finish_reason",
  });
  const late = chunks.slice((finish?.index ?? 0) + 1).filter(({ json }) => {
    const content = member(member(chatChoice(json), "delta"), "content");
    return typeof content === "string" && content !== "";
  });
  verdict.compat("COMPAT-CHAT-FINISH", late.length, 0, {
    ...seen,
    because: "chunks with text after the finish reason",
  });
}

/** Expects one end marker. @returns whether there is at least one. */
function judgeEndMarkers(response: Response, verdict: Verdict): boolean {
  const markers = response.stream.events.filter(({ raw }) => raw === "[DONE]");
  verdict.compat("COMPAT-CHAT-DONE", markers.length, 1, { in: response, because: "end markers" });
  return markers.length > 0;
}

const streamShape = defineCompat("chat", {
  id: "compat.chat-stream",
  title: "Chat streams are readable by OpenAI clients",
  covers: [
    "COMPAT-FRAMING",
    "COMPAT-CHAT-CHUNKS",
    "COMPAT-CHAT-FINISH",
    "COMPAT-CHAT-DONE",
    "COMPAT-REPLY-ID",
    "COMPAT-CONTENT-TYPE",
  ],
  explains:
    "Sends short and long chat streams: they need event-stream framing with JSON chunks, role first, one finish reason, [DONE] once and last, one id per stream. The specification shows none of this, but the SDKs and agents that use gateways rely on it.",
  across: { case: ["short", "long"] },
  cost: { requests: 2 },
  async run(t) {
    const request = t.case === "long" && (await t.hasModel("stream")) ? ({ model: "stream" } as const) : {};
    return {
      streams: [
        await t.send({ ...request, endpoint: "chat", mode: "streaming" }),
        await t.send({ ...request, endpoint: "chat", mode: "streaming" }),
      ],
    };
  },
  judge({ streams }, verdict) {
    for (const response of streams) {
      verdict.requireControl(response, "a plain stream");
      verdict.compat("COMPAT-CONTENT-TYPE", mediaType(response.headers), "text/event-stream", {
        in: response,
        at: "Content-Type",
      });
      if (!judgeFraming(response, verdict)) continue;
      judgeChunks(response, verdict);
      judgeFinish(response, verdict);
      const last = response.stream.events.at(-1)?.raw;
      if (judgeEndMarkers(response, verdict))
        verdict.compat("COMPAT-CHAT-DONE", last, "[DONE]", { in: response, because: "the last event" });
    }
    const ids = streams
      .map((response) => member(replyChunksOf(response)[0]?.json, "id"))
      .filter((id) => id !== undefined);
    judgeIds(ids, streams[1], verdict, "streams");
  },
});

const streamUsage = defineCompat("chat", {
  id: "compat.chat-stream-usage",
  title: "A chat stream carries token counts when requested",
  covers: ["COMPAT-CHAT-USAGE", "COMPAT-USAGE", "COMPAT-CHAT-DONE"],
  explains:
    "With stream_options.include_usage, the last chunk before [DONE] must have empty choices and the counts, which must agree with those of the non-streaming reply to the same prompt. Without the option no chunk needs to carry them.",
  cost: { requests: 2 },
  async run(t) {
    const prompt = `Count these words: one two three ${t.nonce()}`;
    return {
      prompt,
      nonStreaming: await t.send({ endpoint: "chat", prompt }),
      stream: await t.send({
        endpoint: "chat",
        mode: "streaming",
        prompt,
        fields: { stream_options: { include_usage: true } },
        intent: "any",
      }),
    };
  },
  judge({ nonStreaming, stream, prompt }, verdict) {
    verdict.requireControl(nonStreaming);
    if (!verdict.compat("COMPAT-CHAT-USAGE", stream.admitted, aReply, { in: stream })) return;
    const seen = { in: stream };
    if (nonStreaming.replyText !== undefined && stream.replyText !== undefined) {
      verdict.compat(
        "COMPAT-CHAT-USAGE",
        stream.replyText.includes(prompt) || !nonStreaming.replyText.includes(prompt),
        true,
        { ...seen, because: "without the option the model repeats its prompt" },
      );
    }
    const withUsage = stream.stream.events.filter(({ json }) => isObject(member(json, "usage")));
    if (!verdict.compat("COMPAT-CHAT-USAGE", withUsage.length === 0, false, { ...seen, because: "no chunk has usage" }))
      return;
    const last = withUsage.at(-1);
    const judge = memberJudge(stream, verdict, last?.json);
    judge("COMPAT-CHAT-USAGE", "/choices", anEmptyArray);
    // A model's thinking takes longer at some times than at others.
    const thinks = [nonStreaming.json, last?.json].some(
      (json) => Number(atPointer(json, "/usage/completion_tokens_details/reasoning_tokens") ?? 0) > 0,
    );
    for (const name of ["prompt_tokens", "completion_tokens", "total_tokens"]) {
      const at = `/usage/${name}`;
      judge("COMPAT-CHAT-USAGE", at, wholeNumber);
      const expected = nonStreaming.reply.usage?.[name];
      const isSame = nonStreaming.replyText === stream.replyText && (name === "prompt_tokens" || !thinks);
      if (expected !== undefined && isSame)
        verdict.compat("COMPAT-USAGE", atPointer(last?.json, at), expected, {
          ...seen,
          at,
          because: "the same reply, non-streaming",
        });
    }
    const { events } = stream.stream;
    const marker = events.findIndex(({ raw }) => raw === "[DONE]");
    const usage = last === undefined ? -1 : events.indexOf(last);
    if (marker !== -1)
      verdict.compat("COMPAT-CHAT-DONE", usage >= marker, false, {
        ...seen,
        because: "usage comes after the end marker",
      });
    judgeEndMarkers(stream, verdict);
  },
});

const wholeShape = defineCompat("chat", {
  id: "compat.chat-reply",
  title: "Non-streaming chat replies are readable by OpenAI clients",
  covers: ["COMPAT-CHAT-REPLY", "COMPAT-REPLY-ID", "COMPAT-CONTENT-TYPE", "COMPAT-USAGE"],
  explains:
    "Expects id, object, created in seconds, model, and a choice with index 0, role assistant and a known finish reason; counts under their usual names; unique ids.",
  cost: { requests: 2 },
  async run(t) {
    return { replies: [await t.send({ endpoint: "chat" }), await t.send({ endpoint: "chat" })] };
  },
  judge({ replies }, verdict) {
    for (const response of replies) {
      verdict.requireControl(response);
      const choice = chatChoice(response.json);
      const at = (pointer: string) => ({ in: response, at: pointer });
      const judge = memberJudge(response, verdict);
      verdict.compat("COMPAT-CONTENT-TYPE", mediaType(response.headers), aJsonType, at("Content-Type"));
      judge("COMPAT-REPLY-ID", "/id", filledString);
      judge("COMPAT-CHAT-REPLY", "/object", "chat.completion");
      judge("COMPAT-CHAT-REPLY", "/created", inSeconds);
      judge("COMPAT-CHAT-REPLY", "/model", filledString);
      verdict.compat("COMPAT-CHAT-REPLY", member(choice, "index"), 0, at("/choices/0/index"));
      verdict.compat(
        "COMPAT-CHAT-REPLY",
        member(choice, "finish_reason"),
        oneOf(...FINISH_REASONS),
        at("/choices/0/finish_reason"),
      );
      verdict.compat(
        "COMPAT-CHAT-REPLY",
        member(member(choice, "message"), "role"),
        "assistant",
        at("/choices/0/message/role"),
      );
      for (const name of ["prompt_tokens", "completion_tokens", "total_tokens"])
        judge("COMPAT-USAGE", `/usage/${name}`, wholeNumber);
    }
    const ids = replies.map(({ json }) => member(json, "id"));
    judgeIds(ids, replies[1], verdict, "replies");
  },
});

const TURNS: Readonly<Record<string, readonly unknown[]>> = {
  system: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "hello" },
  ],
  "empty-assistant": [
    { role: "user", content: "a" },
    { role: "assistant", content: "" },
    { role: "user", content: "b" },
  ],
  "content-parts": [{ role: "user", content: [{ type: "text", text: "hello" }] }],
};

const turns = defineCompat("chat", {
  id: "compat.chat-turns",
  title: "Conversations are accepted as OpenAI clients write them",
  covers: ["COMPAT-CHAT-TURNS"],
  explains: "Sends a leading system turn, an assistant turn without text, and content in parts: agents send all three.",
  across: { case: Object.keys(TURNS) },
  cost: { requests: 2 },
  async run(t) {
    return {
      control: await t.control({ endpoint: "chat" }),
      response: await t.send({ endpoint: "chat", fields: { messages: TURNS[t.case] }, intent: "any" }),
    };
  },
  judge({ control, response }, verdict) {
    verdict.requireControl(control);
    verdict.compat("COMPAT-CHAT-TURNS", response.admitted, aReply, { in: response });
  },
});

export const CHAT_COMPAT: readonly Check[] = [wholeShape, streamShape, streamUsage, turns];
