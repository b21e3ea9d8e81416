import type { Check, Response } from "../../src/checks/index.ts";
import { isObject, member } from "../../src/core/index.ts";
import { mediaType } from "../../src/dialects/index.ts";
import { anArray, filledString, oneOf, that, type Verdict } from "../../src/judging/index.ts";
import { arrivalOf, isFairlySeen, isOneBurst } from "../shared/arrival.ts";
import { aJsonType, defineCompat } from "./define-compat.ts";

export const STOP_REASONS = ["end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"];

const wholeNumber = that(
  "a whole number of zero or more",
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);
const countOfInput = that("a whole number above zero", (value) => Number.isSafeInteger(value) && (value as number) > 0);

/** What `type` says, event by event; pings may stand anywhere. */
function typesOf({ stream }: Response): string[] {
  return stream.events
    .map(({ json }) => member(json, "type"))
    .filter((type) => typeof type === "string" && type !== "ping") as string[];
}

function judgeNames(answer: Response, verdict: Verdict): void {
  for (const { name, json } of answer.stream.events) {
    const type = member(json, "type");
    if (
      !verdict.compat("COMPAT-MSG-EVENTS", type, filledString, {
        in: answer,
        at: "/type",
        because: `event ${name ?? "without a name"}`,
      })
    )
      continue;
    verdict.compat<unknown>("COMPAT-MSG-EVENTS", name, type, {
      in: answer,
      at: "event",
      because: "events are named like their type",
    });
  }
}

/** Walks through the events as the SDKs do: what may come next depends on what came. */
export function judgeOrder(answer: Response, verdict: Verdict): void {
  const seen = { in: answer };
  const types = typesOf(answer);
  verdict.compat("COMPAT-MSG-EVENTS", types[0], "message_start", { ...seen, because: "the first event" });
  verdict.compat("COMPAT-MSG-EVENTS", types.at(-1), "message_stop", { ...seen, because: "the last event" });
  for (const once of ["message_start", "message_stop"]) {
    verdict.compat("COMPAT-MSG-EVENTS", types.filter((type) => type === once).length, 1, {
      ...seen,
      because: `events ${once}`,
    });
  }
  verdict.compat("COMPAT-MSG-EVENTS", types.includes("message_delta"), true, {
    ...seen,
    because: "a message_delta before the end",
  });
  judgeBlocks(answer, verdict);
}

/** Judges each event by the state that the events before it left. */
function judgeBlocks(answer: Response, verdict: Verdict): void {
  const seen = { in: answer };
  let open: number | undefined;
  let blocks = 0;
  let closing = false;
  for (const { json } of answer.stream.events) {
    const type = member(json, "type");
    const index = member(json, "index");
    switch (type) {
      case "content_block_start":
        verdict.compat("COMPAT-MSG-EVENTS", open, undefined, { ...seen, because: "a block begins while none is open" });
        verdict.compat("COMPAT-MSG-EVENTS", closing, false, { ...seen, because: "blocks come before message_delta" });
        verdict.compat("COMPAT-MSG-EVENTS", index, blocks, {
          ...seen,
          at: "/index",
          because: "blocks are counted from 0",
        });
        verdict.compat("COMPAT-MSG-EVENTS", member(member(json, "content_block"), "type"), filledString, {
          ...seen,
          at: "/content_block/type",
        });
        open = blocks;
        blocks++;
        break;
      case "content_block_delta":
        verdict.compat("COMPAT-MSG-EVENTS", index, open ?? "the index of an open block", {
          ...seen,
          at: "/index",
          because: "a delta belongs to the open block",
        });
        verdict.compat(
          "COMPAT-MSG-EVENTS",
          member(member(json, "delta"), "type"),
          oneOf("text_delta", "input_json_delta", "thinking_delta", "signature_delta", "citations_delta"),
          { ...seen, at: "/delta/type" },
        );
        break;
      case "content_block_stop":
        verdict.compat("COMPAT-MSG-EVENTS", index, open ?? "the index of an open block", {
          ...seen,
          at: "/index",
          because: "a block ends that was open",
        });
        open = undefined;
        break;
      case "message_delta":
        verdict.compat("COMPAT-MSG-EVENTS", open, undefined, {
          ...seen,
          because: "every block is closed before message_delta",
        });
        closing = true;
        break;
      case "message_stop":
        verdict.compat("COMPAT-MSG-EVENTS", closing, true, {
          ...seen,
          because: "message_delta comes before message_stop",
        });
        break;
    }
  }
  verdict.compat("COMPAT-MSG-EVENTS", blocks > 0, true, { ...seen, because: "at least one block" });
}

function judgeStartAndDelta(answer: Response, verdict: Verdict): void {
  const find = (type: string) => answer.stream.events.findLast(({ json }) => member(json, "type") === type)?.json;
  const start = member(find("message_start"), "message");
  const seen = { in: answer };
  if (start !== undefined) {
    verdict.compat("COMPAT-REPLY-ID", member(start, "id"), filledString, { ...seen, at: "/message/id" });
    verdict.compat("COMPAT-MSG-EVENTS", member(start, "role"), "assistant", { ...seen, at: "/message/role" });
    verdict.compat("COMPAT-MSG-EVENTS", member(start, "type"), "message", { ...seen, at: "/message/type" });
    verdict.compat(
      "COMPAT-MSG-EVENTS",
      member(start, "content"),
      that("an empty array", (value) => Array.isArray(value) && value.length === 0),
      { ...seen, at: "/message/content" },
    );
    verdict.compat("COMPAT-USAGE", member(member(start, "usage"), "input_tokens"), countOfInput, {
      ...seen,
      at: "/message/usage/input_tokens",
    });
    verdict.compat("COMPAT-USAGE", member(member(start, "usage"), "output_tokens"), wholeNumber, {
      ...seen,
      at: "/message/usage/output_tokens",
    });
  }
  const delta = find("message_delta");
  if (delta === undefined) return;
  verdict.compat("COMPAT-MSG-EVENTS", member(member(delta, "delta"), "stop_reason"), oneOf(...STOP_REASONS), {
    ...seen,
    at: "/delta/stop_reason",
  });
  verdict.compat("COMPAT-USAGE", member(member(delta, "usage"), "output_tokens"), wholeNumber, {
    ...seen,
    at: "/usage/output_tokens",
  });
}

const streamShape = defineCompat("messages", {
  id: "compat.messages-stream",
  title: "Message streams are what Anthropic clients read",
  covers: [
    "COMPAT-MSG-EVENTS",
    "COMPAT-MSG-STREAM",
    "COMPAT-FRAMING",
    "COMPAT-REPLY-ID",
    "COMPAT-USAGE",
    "COMPAT-CONTENT-TYPE",
  ],
  explains:
    "Short and long streams on /messages: named events in their order, blocks with their indexes, stop reason and counts. The specification does not document streaming there; the clients of this dialect use it all the time.",
  across: { case: ["short", "long"] },
  cost: { requests: 3 },
  async run(t) {
    const prompt = `Say something short: ${t.nonce()}`;
    const request = t.case === "long" && (await t.hasModel("stream")) ? ({ model: "stream" } as const) : {};
    return {
      nonStreaming: await t.send({ ...request, endpoint: "messages", prompt }),
      streams: [
        await t.send({ ...request, endpoint: "messages", mode: "streaming", prompt }),
        await t.send({ ...request, endpoint: "messages", mode: "streaming", prompt }),
      ],
    };
  },
  judge({ nonStreaming, streams }, verdict, { case: length }) {
    verdict.assumeGood(nonStreaming, "the non-streaming form");
    for (const answer of streams) {
      const seen = { in: answer, because: answer.summary };
      if (!verdict.compat("COMPAT-MSG-STREAM", answer.admitted && answer.streamed, true, seen)) continue;
      verdict.compat("COMPAT-CONTENT-TYPE", mediaType(answer.headers), "text/event-stream", {
        in: answer,
        at: "Content-Type",
      });
      if (!verdict.compat("COMPAT-FRAMING", answer.stream.framing, "event-stream", seen)) continue;
      verdict.compat("COMPAT-FRAMING", answer.stream.strayBytes, 0, {
        ...seen,
        because: "bytes after the last blank line",
      });
      const notJson = answer.stream.events.filter(({ json, name }) => !isObject(json) && name !== "ping");
      verdict.compat("COMPAT-FRAMING", notJson.length, 0, {
        ...seen,
        because: `data that is no JSON object: ${notJson[0]?.raw.slice(0, 60)}`,
      });
      judgeNames(answer, verdict);
      judgeOrder(answer, verdict);
      judgeStartAndDelta(answer, verdict);
      judgeCounts(nonStreaming, answer, verdict);
    }
    const held = streams.filter((answer) => {
      const arrival = arrivalOf(answer);
      return length === "long" && isOneBurst(arrival) && isFairlySeen(answer, arrival);
    });
    // One of two may be an accident of the network.
    verdict.compat("COMPAT-MSG-STREAM", held.length < streams.length, true, {
      in: held[0],
      because: "whether most of the output came in one burst, stream after stream",
    });
    const ids = streams
      .map(({ stream }) => member(member(stream.events[0]?.json, "message"), "id"))
      .filter((id) => id !== undefined);
    verdict.compat("COMPAT-REPLY-ID", new Set(ids).size, ids.length, {
      in: streams[1],
      because: "ids of different streams",
    });
  },
});

/** Counts of a stream, the last of each name, against those of the non-streaming reply with the same text. */
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
  title: "Non-streaming messages are what Anthropic clients read",
  covers: ["COMPAT-MSG-REPLY", "COMPAT-REPLY-ID", "COMPAT-CONTENT-TYPE", "COMPAT-USAGE"],
  explains:
    "id, type message, role assistant, model, blocks with a type, a known stop reason, input and output counts; ids that differ.",
  cost: { requests: 2 },
  async run(t) {
    return { replies: [await t.send({ endpoint: "messages" }), await t.send({ endpoint: "messages" })] };
  },
  judge({ replies }, verdict) {
    for (const answer of replies) {
      verdict.assumeGood(answer);
      const { json } = answer;
      const at = (pointer: string) => ({ in: answer, at: pointer });
      verdict.compat("COMPAT-CONTENT-TYPE", mediaType(answer.headers), aJsonType, at("Content-Type"));
      verdict.compat("COMPAT-REPLY-ID", member(json, "id"), filledString, at("/id"));
      verdict.compat("COMPAT-MSG-REPLY", member(json, "type"), "message", at("/type"));
      verdict.compat("COMPAT-MSG-REPLY", member(json, "role"), "assistant", at("/role"));
      verdict.compat("COMPAT-MSG-REPLY", member(json, "model"), filledString, at("/model"));
      verdict.compat("COMPAT-MSG-REPLY", member(json, "stop_reason"), oneOf(...STOP_REASONS), at("/stop_reason"));
      const content = member(json, "content");
      if (verdict.compat("COMPAT-MSG-REPLY", content, anArray, at("/content"))) {
        const untyped = (content as unknown[]).filter((block) => typeof member(block, "type") !== "string").length;
        verdict.compat("COMPAT-MSG-REPLY", untyped, 0, { ...at("/content"), because: "blocks without a type" });
      }
      verdict.compat(
        "COMPAT-USAGE",
        member(member(json, "usage"), "input_tokens"),
        countOfInput,
        at("/usage/input_tokens"),
      );
      verdict.compat(
        "COMPAT-USAGE",
        member(member(json, "usage"), "output_tokens"),
        wholeNumber,
        at("/usage/output_tokens"),
      );
    }
    const ids = replies.map(({ json }) => member(json, "id"));
    verdict.compat("COMPAT-REPLY-ID", new Set(ids).size, ids.length, {
      in: replies[1],
      because: "ids of different replies",
    });
  },
});

export const MESSAGES_COMPAT: readonly Check[] = [wholeShape, streamShape];
