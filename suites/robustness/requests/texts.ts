import {
  type BodyFact,
  type Check,
  defineCheck,
  defineInvariant,
  type HeldRequest,
  isTimedOut,
  type RequestSpec,
  type Response,
  type Session,
} from "../../../src/checks/index.ts";
import { noncesIn } from "../../../src/core/index.ts";
import { DIALECTS } from "../../../src/dialects/index.ts";
import { servable } from "../../shared/cases/servable.ts";
import { assumeWholeReply } from "../../shared/judge/own-length.ts";
import { requestedModel } from "../../shared/requests/requested-model.ts";
import { AMPLE_TOKENS, LONG_TEXT, MULTIBYTE_TEXT, SPECIAL_TEXT } from "../../shared/requests/texts.ts";
import { echoAlways } from "./echo-always.ts";

/** More than some models accept, and more than many can repeat. */
const VERY_LONG = "very-long";
const VERY_LONG_TOKENS = 32_768;
/** The same as a stream, with a short deadline and not as evidence for other checks. */
const LONG_STREAM: RequestSpec = { mode: "streaming", intent: "any", bounds: { deadlineMs: 12_000 } };
const TOO_MUCH: readonly number[] = [400, 413, 422];
/** Finish reasons of both dialects for a reply that the output limit ended. */
const CUT_OFF: readonly unknown[] = ["length", "max_tokens"];

const LONG_CASES: readonly string[] = ["long", VERY_LONG];

const TEXTS: Readonly<Record<string, RequestSpec["prompt"] & {}>> = {
  multibyte: MULTIBYTE_TEXT,
  special: SPECIAL_TEXT,
  long: LONG_TEXT,
  // Some gateways parse a reply that looks like JSON as JSON.
  "like-json": '{"city": "Oslo", "degrees": [1, 2.50], "ok": true}',
  "like-a-number": "1234.50",
  digits: "1234567",
  [VERY_LONG]: Array.from({ length: 12 }, (_, index) => `part ${index} ${LONG_TEXT}`).join("\n"),
  "last-turn": [
    { role: "user", content: "the first turn" },
    { role: "assistant", content: "a reply in between" },
    { role: "user", content: "the last turn, which gets the reply" },
  ],
};

/** The text that the model has to repeat: the last user turn. */
function lastTurn(prompt: RequestSpec["prompt"] & {}): string {
  return typeof prompt === "string" ? prompt : (prompt.at(-1)?.content ?? "");
}

const textPassesThrough = defineCheck({
  id: "robustness.text",
  title: "Text passes through unchanged",
  covers: ["TEXT-INTACT"],
  explains:
    "Sends a model that repeats its prompt text beyond ASCII, text full of escapes, long text, text that looks like JSON or a number, streaming and non-streaming, and a conversation. It should repeat the last turn, character for character. A difference means broken encodings, truncated replies or mixed-up prompts.",
  needs: ["model.echo"],
  across: { dialect: DIALECTS, case: Object.keys(TEXTS) },
  cost: { requests: 4 },
  async run(t) {
    const prompt = TEXTS[t.case] ?? "";
    const maxTokens = t.case === VERY_LONG ? VERY_LONG_TOKENS : AMPLE_TOKENS;
    const limit: RequestSpec = t.dialect === "messages" ? { maxTokens } : {};
    // Beyond the sizes at which streams are truncated: the second time in pieces, if this dialect streams at all.
    const streams =
      t.case === VERY_LONG && (await t.send({ endpoint: t.dialect, mode: "streaming", intent: "invalid" })).streamed;
    const plain = t.nonce();
    const calibration = await t.send({ model: "echo", prompt: plain });
    const expected = lastTurn(prompt);
    const responses = [
      await t.send({ model: "echo", prompt, ...limit }),
      await t.send({ model: "echo", prompt, ...limit, freshConnection: true, ...(streams ? LONG_STREAM : {}) }),
    ];
    const isCut = t.dialect === "chat" && responses.some((response) => isBeginning(response, expected));
    const limited = isCut
      ? await t.send({ model: "echo", prompt, fields: { max_tokens: maxTokens }, intent: "invalid" })
      : null;
    return {
      plain,
      isLong: LONG_CASES.includes(t.case),
      mayBeTooMuch: t.case === VERY_LONG,
      calibration,
      expected,
      responses,
      limited,
    };
  },
  judge({ plain, isLong, mayBeTooMuch, calibration, expected, responses, limited }, verdict) {
    // Without a limit in the request a model may have its own.
    const hasOwnLimit = limited?.replyText?.includes(expected) === true;
    verdict.requireControl(calibration, "the echo model");
    if (calibration.replyText?.includes(plain) !== true)
      return verdict.notApplicable("models.echo does not repeat its prompt");
    for (const response of responses) {
      // A slow model takes minutes for such a text, and sends megabytes if it streams letter by letter.
      if (response.requested.mode === "streaming" && wasTooMuchForUs(response)) continue;
      if (mayBeTooMuch && TOO_MUCH.includes(response.status ?? 0))
        return verdict.notApplicable(
          `the echo model takes no text of ${expected.length} characters (${response.summary})`,
        );
      verdict.requireControl(response, "the echo model");
      // Text after the output limit is not lost.
      const reason = response.streamed ? response.stream.finishReasons.at(-1) : response.reply.finishReason;
      if (CUT_OFF.includes(reason) || (hasOwnLimit && isBeginning(response, expected))) continue;
      const text = response.replyText ?? "";
      if (isLong && !text.includes(expected)) assumeWholeReply(verdict, { response, expected, replies: responses });
      verdict.should("TEXT-INTACT", !text.includes(expected), false, {
        in: response,
        because: describeLoss(expected, text),
      });
    }
    if (verdict.findings.length === 0)
      verdict.notApplicable("all replies ended at their output limit or at Gauntlet's");
  },
});

/** Minimum number of characters from which a truncated text is recognised as the beginning of another. */
const BEGINNING = 200;

/** Whether a reply ends in the middle of the text that it has to repeat, and is complete up to that point. */
function isBeginning(response: Response, expected: string): boolean {
  const text = response.replyText?.trim() ?? "";
  if (text.includes(expected)) return false;
  const start = text.indexOf(expected.slice(0, BEGINNING));
  return start >= 0 && text.length > start + BEGINNING && expected.startsWith(text.slice(start));
}

/** Whether our own bounds ended it. */
function wasTooMuchForUs({ exchange }: Response): boolean {
  return isTimedOut(exchange) || exchange.ending.kind === "size-bound";
}

function describeLoss(expected: string, text: string): string {
  let at = 0;
  while (at < expected.length && expected[at] === text[at]) at++;
  return `sent ${expected.length} characters, got ${text.length}; equal up to character ${at}: sent ${JSON.stringify(expected.slice(at, at + 24))}, got ${JSON.stringify(text.slice(at, at + 24))}`;
}

/** Number of concurrent requests, and of rounds. */
const AT_ONCE = 12;
const ROUNDS = 4;

const ownResponses = defineCheck({
  id: "robustness.own-answer",
  title: "Concurrent requests get their own responses",
  covers: ["OWN-ANSWER", "TEXT-INTACT"],
  explains:
    "Sends many concurrent requests in both dialects, streaming and non-streaming, each with a unique text; some clients disconnect. No response may contain another request's text. A failure means that buffers or contexts are shared between callers.",
  needs: ["model.echo"],
  cost: { requests: AT_ONCE * ROUNDS },
  async run(t) {
    const rounds: ConcurrentRequest[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(...(await sendConcurrently(t)));
    return { rounds };
  },
  judge({ rounds }, verdict) {
    for (const { nonce, left, response } of rounds) {
      if (!response.admitted) continue;
      const text = response.replyText;
      if (text === undefined) continue;
      const foreign = rounds.filter((other) => other.nonce !== nonce && text.includes(other.nonce));
      verdict.must("OWN-ANSWER", foreign.length, 0, {
        in: response,
        because: "texts of other requests in this response",
      });
      if (left) continue;
      verdict.should("TEXT-INTACT", !text.includes(nonce), false, {
        in: response,
        because: "the reply lacks the request's own text",
      });
    }
    if (verdict.findings.length === 0) verdict.inconclusive("no request was served");
  },
});

/** One of many concurrent requests; those that disconnect use a model that need not repeat anything. */
type ConcurrentRequest = { readonly nonce: string; readonly left: boolean; readonly response: Response };

async function sendConcurrently(t: Session): Promise<ConcurrentRequest[]> {
  const most = Math.max(2, Math.min(AT_ONCE, Math.floor((t.target.limits?.inFlight ?? 8) / 3)));
  const leaving: HeldRequest[] = [];
  const inEach = t.target.dialects.map((endpoint): RequestSpec => ({ endpoint, model: "stream" }));
  const long = new Set((await servable(t, inEach)).map(({ endpoint }) => endpoint));
  const together = Array.from({ length: most }, async (_, index) => {
    const nonce = t.nonce();
    const request = {
      model: "echo" as const,
      prompt: `Repeat ${nonce} ${"and on ".repeat(index)}`,
      endpoint: t.target.dialects[index % t.target.dialects.length] ?? t.dialect,
      mode: index % 3 === 0 ? ("streaming" as const) : ("non-streaming" as const),
    };
    if (index % 6 === 5) {
      // A long reply: one that ends before its client disconnects is not aborted.
      const model = long.has(request.endpoint) ? "stream" : "echo";
      const held = t.start({ ...request, model, mode: "streaming", intent: "invalid", freshConnection: true });
      leaving.push(held);
      await held.started;
      held.abort();
      return { nonce, left: true, response: await held.done };
    }
    return { nonce, left: false, response: await t.send(request) };
  });
  return Promise.all(together);
}

/** Unique texts in a body, and in the text of a stream, where they arrive in pieces. */
const noncesOf: BodyFact<readonly string[]> = (body) => {
  const pieces = body.isJson ? "" : (body.stream.text ?? "");
  return [body.text, pieces].flatMap(noncesIn);
};

const noForeignText = defineInvariant({
  id: "robustness.no-foreign-text",
  title: "No response of the run contains another request's text",
  covers: ["OWN-ANSWER"],
  explains:
    "Searches all responses, including denials and lists, for the unique texts of all prompts. One caller's text in another's response is the worst failure a gateway can have.",
  judge(responses, verdict) {
    const received = responses.filter(({ status }) => status !== undefined);
    if (received.length === 0) return verdict.inconclusive("no response arrived");
    // The id of a requested model is not a caller's text, and a list may contain it.
    const named = new Set(responses.flatMap((response) => noncesIn(String(requestedModel(response)))));
    for (const response of received) {
      const { body: own = "", truncated } = response.exchange.request;
      // The other text sent with it is not stored, and may be what was returned.
      if (truncated === true) continue;
      const held = response.fact(noncesOf);
      const foreign = [...new Set(held)].filter((nonce) => !own.includes(nonce) && !named.has(nonce));
      if (foreign.length > 0)
        verdict.must("OWN-ANSWER", foreign.length, 0, {
          in: response,
          because: `texts of other requests: ${foreign.slice(0, 3).join(", ")}`,
        });
    }
    if (verdict.findings.length === 0)
      verdict.must("OWN-ANSWER", 0, 0, { because: `foreign texts in ${received.length} responses` });
  },
});

export const TEXT: readonly Check[] = [textPassesThrough, ownResponses, noForeignText, echoAlways];
