import { expect, test } from "vitest";
import { conformTo, httpServer, targetOf } from "../support/judge.ts";
import { judged, seen } from "../support/seen-response.ts";

interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

const HISTORY = "robustness.reply-cache[chat,history]";

/** What a check reports for a gateway of the chat dialect. */
async function resultOf(only: string, reply: (sent: Sent) => { readonly text: string; readonly usage?: object }) {
  await using server = await httpServer((request, body, response) => {
    const { text, usage = { completion_tokens: 1 } } =
      request.method === "GET" ? { text: "" } : reply(JSON.parse(body) as Sent);
    const message = { role: "assistant", content: text };
    const value = { data: [{ id: "plain" }], choices: [{ index: 0, message, finish_reason: "stop" }], usage };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
  });
  const [result] = await conformTo(targetOf(server.baseUrl, "dialects: [chat]\n"), { only: [only] });
  return result;
}

/** A model that follows instructions: it says the word. */
const word = ({ messages }: Sent): string => /The word is (\w+)/.exec(JSON.stringify(messages))?.[1] ?? "hello";
const lengthOf = ({ messages }: Sent): number => JSON.stringify(messages).length;

test("a reply with the word of another conversation fails, whatever is counted", async () => {
  const cache = new Map<string, string>();
  const result = await resultOf(HISTORY, (sent) => {
    const last = sent.messages.at(-1)?.content ?? "";
    cache.set(last, cache.get(last) ?? word(sent));
    return { text: cache.get(last) ?? "" };
  });
  expect(result).toMatchObject({ status: "fail", violated: ["OWN-ANSWER"] });
  expect(result?.message).toContain("the word of another conversation");
});

test("a model that follows the conversation passes, whatever is counted", async () => {
  expect(await resultOf(HISTORY, (sent) => ({ text: word(sent) }))).toMatchObject({ status: "pass" });
});

test("the same text with its own counts passes", async () => {
  const result = await resultOf(HISTORY, (sent) => ({
    text: "I do not know.",
    usage: { prompt_tokens: lengthOf(sent) },
  }));
  expect(result).toMatchObject({ status: "pass" });
});

test("if neither text nor counts depend on the conversation, nothing is judged", async () => {
  const result = await resultOf(HISTORY, (sent) => ({
    text: sent.messages.at(-1)?.content ?? "",
    usage: { prompt_tokens: sent.messages.at(-1)?.content.length },
  }));
  expect(result).toMatchObject({ status: "not-applicable" });
});

test("counts that match another request only once prove nothing", async () => {
  const lengths = new Map<string, number>();
  let mistakes = 0;
  const result = await resultOf(HISTORY, (sent) => {
    const last = sent.messages.at(-1)?.content ?? "";
    const known = lengths.get(last);
    lengths.set(last, lengthOf(sent));
    if (known !== undefined) mistakes++;
    return {
      text: "I do not know.",
      usage: { prompt_tokens: mistakes === 1 ? (known ?? lengthOf(sent)) : lengthOf(sent) },
    };
  });
  expect(result).toMatchObject({ status: "pass" });
  expect(mistakes).toBe(2);
});

const NONCE = "gx00n1aaz";

/** A reply to a unique prompt. */
const counted = (usage: object, { prompt = NONCE, events = false } = {}) => {
  const choice = { index: 0, message: { content: "hello" }, delta: { content: "hello" } };
  const json = JSON.stringify({ choices: [choice], usage });
  return seen({
    sentMs: 0,
    endMs: 1,
    intent: "valid",
    nonce: NONCE,
    sent: JSON.stringify({ messages: [{ role: "user", content: prompt }] }),
    mode: events ? "streaming" : "non-streaming",
    text: events ? `data: ${json}\n\ndata: [DONE]\n\n` : json,
  });
};

test.each([
  ["output", { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 }, {}, "warn"],
  ["input", { prompt_tokens: 0, completion_tokens: 3, total_tokens: 3 }, {}, "warn"],
  ["output of a stream", { prompt_tokens: 3, completion_tokens: 0 }, { events: true }, "warn"],
  ["nothing", { prompt_tokens: 3, completion_tokens: 1 }, {}, "pass"],
  ["a cached input", { input_tokens: 0, cache_read_input_tokens: 9, output_tokens: 1 }, {}, "pass"],
  ["a prompt that may be cached", { prompt_tokens: 0, completion_tokens: 0 }, { prompt: "hello" }, "pass"],
])("0 tokens: %s", (_what, usage, options, status) => {
  const others = counted({ prompt_tokens: 3, completion_tokens: 1 });
  expect(judged("robustness.counts", [others, counted(usage, options)])).toMatchObject({ status });
});

test("replies without counts do not show that none of them is 0", () => {
  const zeroFindings = (...responses: readonly ReturnType<typeof counted>[]) =>
    judged("robustness.counts", responses).findings.map(({ subject }) => subject);
  expect(zeroFindings(counted({ cost: 1 }))).not.toContainEqual(expect.stringMatching(/0 (?:input|output) tokens/));
  expect(zeroFindings(counted({ completion_tokens: 1 }))).toContainEqual(
    "replies (of 1) with text that count 0 output tokens",
  );
  expect(zeroFindings(counted({ completion_tokens: 1 }))).not.toContainEqual(
    "replies (of 1) with text that count 0 input tokens",
  );
});
