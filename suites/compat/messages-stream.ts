import type { Check, Response } from "../../src/checks/index.ts";
import { isObject, member } from "../../src/core/index.ts";
import { mediaType } from "../../src/dialects/index.ts";
import { anArray, filledString, isTrue, oneOf, that, type Verdict } from "../../src/judging/index.ts";
import { arrivalOf, isFairlySeen, isOneBurst } from "../shared/judge/arrival.ts";
import { LONG_STORY } from "../shared/requests/texts.ts";
import { aJsonType, anEmptyArray, defineCompat, judgeIds, memberJudge } from "./define-compat.ts";

export const STOP_REASONS = ["end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"];
const DELTAS = ["text_delta", "input_json_delta", "thinking_delta", "signature_delta", "citations_delta"];
/** Expected index if no block is open: a text, which no received index equals. */
const OPEN_BLOCK = "the index of an open block";

const wholeNumber = that(
  "a whole number of zero or more",
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);
const countOfInput = that("a whole number above zero", (value) => Number.isSafeInteger(value) && (value as number) > 0);

/** The `type` of each event; pings may occur anywhere. */
function typesOf({ stream }: Response): string[] {
  return stream.events
    .map(({ json }) => member(json, "type"))
    .filter((type) => typeof type === "string" && type !== "ping") as string[];
}

function judgeNames(response: Response, verdict: Verdict): void {
  for (const { name, json } of response.stream.events) {
    const type = member(json, "type");
    if (
      !verdict.compat("COMPAT-MSG-EVENTS", type, filledString, {
        in: response,
        at: "/type",
        because: `event ${name ?? "without a name"}`,
      })
    )
      continue;
    verdict.compat<unknown>("COMPAT-MSG-EVENTS", name, type, {
      in: response,
      at: "event",
      because: "events are named like their type",
    });
  }
}

/** Processes the events as the SDKs do: which event may follow depends on the previous ones. */
export function judgeOrder(response: Response, verdict: Verdict): void {
  const types = typesOf(response);
  const expect = (observed: unknown, expected: unknown, because: string) =>
    verdict.compat("COMPAT-MSG-EVENTS", observed, expected, { in: response, because });
  expect(types[0], "message_start", "the first event");
  expect(types.at(-1), "message_stop", "the last event");
  for (const once of ["message_start", "message_stop"])
    expect(types.filter((type) => type === once).length, 1, `events ${once}`);
  expect(types.includes("message_delta"), true, "a message_delta before the end");
  judgeBlocks(response, verdict);
}

/** Judges each event by the state after the events before it. */
function judgeBlocks(response: Response, verdict: Verdict): void {
  const expect = (observed: unknown, expected: unknown, seen: { readonly at?: string; readonly because?: string }) =>
    verdict.compat("COMPAT-MSG-EVENTS", observed, expected, { in: response, ...seen });
  let open: number | undefined;
  let blocks = 0;
  let closing = false;
  for (const { json } of response.stream.events) {
    const type = member(json, "type");
    const index = member(json, "index");
    switch (type) {
      case "content_block_start":
        expect(open, undefined, { because: "a block begins while none is open" });
        expect(closing, false, { because: "blocks come before message_delta" });
        expect(index, blocks, { at: "/index", because: "blocks are counted from 0" });
        expect(member(member(json, "content_block"), "type"), filledString, { at: "/content_block/type" });
        open = blocks;
        blocks++;
        break;
      case "content_block_delta":
        expect(index, open ?? OPEN_BLOCK, { at: "/index", because: "a delta belongs to the open block" });
        expect(member(member(json, "delta"), "type"), oneOf(...DELTAS), { at: "/delta/type" });
        break;
      case "content_block_stop":
        expect(index, open ?? OPEN_BLOCK, { at: "/index", because: "a block ends that was open" });
        open = undefined;
        break;
      case "message_delta":
        expect(open, undefined, { because: "every block is closed before message_delta" });
        closing = true;
        break;
      case "message_stop":
        expect(closing, true, { because: "message_delta comes before message_stop" });
        break;
    }
  }
  expect(blocks > 0, true, { because: "at least one block" });
}

function judgeStartAndDelta(response: Response, verdict: Verdict): void {
  const find = (type: string) => response.stream.events.findLast(({ json }) => member(json, "type") === type)?.json;
  const start = find("message_start");
  if (member(start, "message") !== undefined) {
    const judge = memberJudge(response, verdict, start);
    judge("COMPAT-REPLY-ID", "/message/id", filledString);
    judge("COMPAT-MSG-EVENTS", "/message/role", "assistant");
    judge("COMPAT-MSG-EVENTS", "/message/type", "message");
    judge("COMPAT-MSG-EVENTS", "/message/content", anEmptyArray);
    judge("COMPAT-USAGE", "/message/usage/input_tokens", countOfInput);
    judge("COMPAT-USAGE", "/message/usage/output_tokens", wholeNumber);
  }
  const delta = find("message_delta");
  if (delta === undefined) return;
  const judge = memberJudge(response, verdict, delta);
  judge("COMPAT-MSG-EVENTS", "/delta/stop_reason", oneOf(...STOP_REASONS));
  judge("COMPAT-USAGE", "/usage/output_tokens", wholeNumber);
}

const streamShape = defineCompat("messages", {
  id: "compat.messages-stream",
  title: "Message streams are readable by Anthropic clients",
  covers: [
    "COMPAT-MSG-EVENTS",
    "COMPAT-MSG-STREAM",
    "COMPAT-FRAMING",
    "COMPAT-REPLY-ID",
    "COMPAT-USAGE",
    "COMPAT-CONTENT-TYPE",
  ],
  explains:
    "Sends short and long streams on /messages: they need named events in order, blocks with their indexes, stop reason and counts. The specification does not document streaming there, but clients of this dialect use it all the time.",
  across: { case: ["short", "long"] },
  cost: { requests: 3 },
  async run(t) {
    const isLong = t.case === "long" && (await t.hasModel("stream"));
    const prompt = `${isLong ? LONG_STORY : "Say something short:"} ${t.nonce()}`;
    const request = isLong ? ({ model: "stream" } as const) : {};
    return {
      isLong,
      nonStreaming: await t.send({ ...request, endpoint: "messages", prompt }),
      streams: [
        await t.send({ ...request, endpoint: "messages", mode: "streaming", prompt }),
        await t.send({ ...request, endpoint: "messages", mode: "streaming", prompt }),
      ],
    };
  },
  judge({ isLong, nonStreaming, streams }, verdict) {
    verdict.requireControl(nonStreaming, "the non-streaming form");
    for (const response of streams) {
      const seen = { in: response };
      if (
        !verdict.compat(
          "COMPAT-MSG-STREAM",
          response.admitted && response.streamed,
          isTrue("a complete stream without an error"),
          seen,
        )
      )
        continue;
      verdict.compat("COMPAT-CONTENT-TYPE", mediaType(response.headers), "text/event-stream", {
        in: response,
        at: "Content-Type",
      });
      if (!verdict.compat("COMPAT-FRAMING", response.stream.framing, "event-stream", seen)) continue;
      verdict.compat("COMPAT-FRAMING", response.stream.strayBytes, 0, {
        ...seen,
        because: "bytes after the last blank line",
      });
      const notJson = response.stream.events.filter(({ json, name }) => !isObject(json) && name !== "ping");
      verdict.compat("COMPAT-FRAMING", notJson.length, 0, {
        ...seen,
        because: `data that is no JSON object: ${notJson[0]?.raw.slice(0, 60)}`,
      });
      judgeNames(response, verdict);
      judgeOrder(response, verdict);
      judgeStartAndDelta(response, verdict);
      judgeCounts(nonStreaming, response, verdict);
    }
    const held = streams.filter((response) => {
      const arrival = arrivalOf(response);
      // A short reply may be one piece.
      return isLong && isOneBurst(arrival) && isFairlySeen(response, arrival);
    });
    // One of two may be a network accident.
    verdict.compat("COMPAT-MSG-STREAM", held.length >= streams.length, false, {
      in: held[0],
      because: "most of the output arrived in one burst, stream after stream",
    });
    const ids = streams
      .map(({ stream }) => member(member(stream.events[0]?.json, "message"), "id"))
      .filter((id) => id !== undefined);
    judgeIds(ids, streams[1], verdict, "streams");
  },
});

/** Compares the counts of a stream, the last of each name, with those of the non-streaming reply with the same text. */
function judgeCounts(nonStreaming: Response, stream: Response, verdict: Verdict): void {
  if (nonStreaming.replyText !== stream.replyText) return;
  for (const name of ["input_tokens", "output_tokens"]) {
    const counts = stream.stream.events.flatMap(({ json }) => {
      const count = member(member(json, "usage"), name) ?? member(member(member(json, "message"), "usage"), name);
      return typeof count === "number" ? [count] : [];
    });
    const expected = nonStreaming.reply.usage?.[name];
    if (expected === undefined || counts.length === 0) continue;
    verdict.compat("COMPAT-USAGE", counts.at(-1), expected, {
      in: stream,
      at: `/usage/${name}`,
      because: "the same reply, non-streaming",
    });
  }
}

const wholeShape = defineCompat("messages", {
  id: "compat.messages-reply",
  title: "Non-streaming messages are readable by Anthropic clients",
  covers: ["COMPAT-MSG-REPLY", "COMPAT-REPLY-ID", "COMPAT-CONTENT-TYPE", "COMPAT-USAGE"],
  explains:
    "Expects id, type message, role assistant, model, typed blocks, a known stop reason, input and output counts; unique ids.",
  cost: { requests: 2 },
  async run(t) {
    return { replies: [await t.send({ endpoint: "messages" }), await t.send({ endpoint: "messages" })] };
  },
  judge({ replies }, verdict) {
    for (const response of replies) {
      verdict.requireControl(response);
      const judge = memberJudge(response, verdict);
      verdict.compat("COMPAT-CONTENT-TYPE", mediaType(response.headers), aJsonType, {
        in: response,
        at: "Content-Type",
      });
      judge("COMPAT-REPLY-ID", "/id", filledString);
      judge("COMPAT-MSG-REPLY", "/type", "message");
      judge("COMPAT-MSG-REPLY", "/role", "assistant");
      judge("COMPAT-MSG-REPLY", "/model", filledString);
      judge("COMPAT-MSG-REPLY", "/stop_reason", oneOf(...STOP_REASONS));
      if (judge("COMPAT-MSG-REPLY", "/content", anArray)) {
        const blocks = member(response.json, "content") as unknown[];
        const untyped = blocks.filter((block) => typeof member(block, "type") !== "string").length;
        const seen = { in: response, at: "/content", because: "blocks without a type" };
        verdict.compat("COMPAT-MSG-REPLY", untyped, 0, seen);
      }
      judge("COMPAT-USAGE", "/usage/input_tokens", countOfInput);
      judge("COMPAT-USAGE", "/usage/output_tokens", wholeNumber);
    }
    const ids = replies.map(({ json }) => member(json, "id"));
    judgeIds(ids, replies[1], verdict, "replies");
  },
});

export const MESSAGES_COMPAT: readonly Check[] = [wholeShape, streamShape];
