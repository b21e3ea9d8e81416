// real-time: checks fill the limits of a minute and wait for Retry-After
import { describe, expect, test } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { instancesOf, type Response } from "../../src/checks/index.ts";
import { judge } from "../../src/checks/runner/judge.ts";
import { nonceOf } from "../../src/core/index.ts";
import { CHECKS } from "../../suites/index.ts";
import { fisherSplit, MAX_FALSE_FAILURE } from "../../suites/shared/judge/fisher-split.ts";
import { seen } from "../support/seen-response.ts";

function ofRun(id: string, responses: readonly Response[]) {
  const [instance] = CHECKS.filter((check) => check.id === id).flatMap(instancesOf);
  if (instance === undefined) throw new Error(`no check ${id}`);
  return judge(instance, responses);
}

const reply = (text: string, model = "one") =>
  JSON.stringify({ model, choices: [{ message: { role: "assistant", content: text } }], usage: { total_tokens: 1 } });
const chunk = (text: string, model = "one") =>
  `data: ${JSON.stringify({ model, choices: [{ index: 0, delta: { content: text } }] })}\n\ndata: [DONE]\n\n`;

let serial = 0;
/** A plain request with a unique text, and its response. */
function plain(text: (nonce: string) => string, mode: "streaming" | "non-streaming" = "non-streaming"): Response {
  const nonce = nonceOf("ab", String(++serial));
  const sent = JSON.stringify({ model: "one", messages: [{ role: "user", content: `Please repeat: ${nonce}` }] });
  return seen({ sentMs: serial, endMs: serial + 1, intent: "valid", nonce, sent, mode, text: text(nonce) });
}
const times = <T>(length: number, make: () => T): T[] => Array.from({ length }, make);

describe("one reply for all prompts", () => {
  const id = "chat.reply-to-the-prompt";
  const stored = () => plain(() => reply("Hello!"));

  test("fails if the model repeats its prompt in another mode", () => {
    const echoes = times(10, () => plain((nonce) => chunk(nonce), "streaming"));
    expect(ofRun(id, [...times(10, stored), ...echoes])).toMatchObject({
      status: "fail",
      message: expect.stringMatching(/same text for 10 different prompts .chat, non-streaming.: "Hello!"/),
    });
  });

  test("decides nothing if the model says the same in every mode, and passes if two replies differ", () => {
    const streams = times(10, () => plain(() => chunk("Hello!"), "streaming"));
    expect(ofRun(id, [...times(10, stored), ...streams]).status).toBe("inconclusive");
    const one = plain(() => reply("Good morning!"));
    expect(
      ofRun(id, [...times(10, stored), one, ...times(9, () => plain((nonce) => chunk(nonce), "streaming"))]).status,
    ).toBe("pass");
  });

  test("fails if it repeats the prompt of another request", () => {
    const another = nonceOf("ab", "first");
    expect(
      ofRun(
        id,
        times(10, () => plain(() => reply(`You said ${another}.`))),
      ).status,
    ).toBe("fail");
  });

  test("is not a text at which every reply is cut off", () => {
    const cut = times(10, () => plain(() => chunk("Please"), "streaming"));
    const echoes = times(10, () => plain((nonce) => reply(`Please repeat: ${nonce}`)));
    expect(ofRun(id, [...cut, ...echoes]).status).toBe("pass");
  });

  test("fails by chance at most once in 10,000 runs if the replies of the model vary", () => {
    let turn = 0;
    const varied = (share: number) =>
      times(20, () => plain(() => chunk(turn++ % 10 < share * 10 ? "Hello!" : `No. ${turn}`), "streaming"));
    expect(ofRun(id, [...times(10, stored), ...varied(0.1)]).status).toBe("fail");
    expect(ofRun(id, [...times(10, stored), ...varied(0.9)]).status).toBe("inconclusive");
  });
});

describe("a 5xx because of the request", () => {
  const id = "robustness.no-server-error";
  const odd = (sentMs: number, status: number) =>
    seen({ sentMs, endMs: sentMs + 1, status, intent: "invalid", sent: '{"model":"one","top_p":1}' });
  const served = (sentMs: number, model = "one") => seen({ sentMs, endMs: sentMs + 1, sent: `{"model":"${model}"}` });

  test("is found if it occurs three times with the model served in between", () => {
    expect(ofRun(id, [odd(0, 500), odd(2, 500), served(4), odd(6, 500)])).toMatchObject({ status: "warn" });
  });

  test.each([
    ["a stray one", [odd(0, 500), served(2), odd(4, 400)]],
    ["two of them", [odd(0, 500), served(2), odd(4, 500)]],
    ["another status each time", [odd(0, 500), served(2), odd(4, 502), odd(6, 500)]],
    ["an outage, in which nothing is served", [odd(0, 503), odd(2, 503), odd(4, 503), served(6)]],
    ["a model that serves nothing", [odd(0, 500), odd(2, 500), served(4, "other"), odd(6, 500)]],
    ["a method that is not implemented", [odd(0, 501), odd(2, 501), served(4), odd(6, 501)]],
  ])("is not %s", (_, responses) => {
    expect(ofRun(id, responses).status).toBe("pass");
  });

  test.each([
    "messages.without-version-500",
    "messages.system-turn-500",
    "chat.top-p-500",
    "messages.empty-system-500",
  ])("is found in a run: %s", async (mutation) => {
    const suites = CHECKS.filter(
      ({ id: own }) => own === id || /^(chat\.optional|messages\.system|service\.version)/.test(own),
    );
    const { results } = await judgeGateway({ mutations: [mutation], instances: suites.flatMap(instancesOf) });
    expect(results.find((result) => result.id === id)).toMatchObject({
      status: "warn",
      violated: ["HTTP-SERVER-ERROR"],
    });
  });
});

describe("the model name in replies", () => {
  const id = "compat.chat-reply-model";
  const named = (model: string) => plain((nonce) => reply(nonce, model));
  const streamed = (model: string) => plain((nonce) => chunk(nonce, model), "streaming");

  test("is a different one in every non-streaming reply", () => {
    expect(ofRun(id, [...times(4, () => named("two")), ...times(4, () => streamed("one"))])).toMatchObject({
      status: "warn",
      message: expect.stringMatching(/expected the model one, or a name that stands for it, got "two"/),
    });
  });

  test.each([
    ["with a date", "one-2024-08-06"],
    ["with its provider", "vendor/one"],
    ["as it was requested", "one"],
  ])("may be %s", (_, model) => {
    expect(ofRun(id, [...times(4, () => named(model)), ...times(4, () => streamed("one"))]).status).toBe("pass");
  });

  test("may be the target of an alias in every mode, or now and then a different one", () => {
    expect(ofRun(id, [...times(4, () => named("two")), ...times(4, () => streamed("two"))]).status).toBe("pass");
    const mixed = [...times(3, () => named("two")), named("one"), ...times(4, () => streamed("one"))];
    expect(ofRun(id, mixed).status).toBe("pass");
  });
});

test("the probability of a split between two groups by chance", () => {
  expect(fisherSplit({ hits: 10, of: 10, others: 10 })).toBeCloseTo(1 / 184_756, 12);
  expect(fisherSplit({ hits: 9, of: 10, others: 10 })).toBeLessThan(MAX_FALSE_FAILURE);
  expect(fisherSplit({ hits: 8, of: 10, others: 10 })).toBeGreaterThan(MAX_FALSE_FAILURE);
  expect(fisherSplit({ hits: 0, of: 10, others: 10 })).toBe(1);
});
