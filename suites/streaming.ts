import {
  type Check,
  defineCheck,
  defineInvariant,
  isTimedOut,
  type RequestSpec,
  type Response,
} from "../src/checks/index.ts";
import { member } from "../src/core/index.ts";
import { DIALECTS, parseJson } from "../src/dialects/index.ts";
import { atMost, isTrue, type Verdict } from "../src/judging/index.ts";
import { arrivalOf } from "./shared/judge/arrival.ts";
import { isCutByUs } from "./shared/judge/cut-by-us.ts";
import { assumeControl } from "./shared/requests/control-request.ts";
import { sendPastRate } from "./shared/requests/send-past-rate.ts";
import {
  AMPLE_TOKENS,
  LONG_STORY,
  LONG_TEXT,
  MARKUP_TEXT,
  MULTIBYTE_TEXT,
  SPACED_TEXT,
  SPECIAL_TEXT,
} from "./shared/requests/texts.ts";
import { INCREMENTAL } from "./streaming/incremental.ts";
import { LONG_EVENTS } from "./streaming/long-events.ts";

/** Time within which the end of a stream should be visible, ms. */
const MAX_TAIL_MS = 3_000;

const ends = defineCheck({
  id: "streaming.ends",
  title: "A stream ends",
  covers: ["STREAM-3", "STREAM-5", "MSG-14"],
  explains:
    "After the last output the body should end soon, without hanging and without an abnormal close, even for a client that sends `Connection: close`. Framing, end markers and content type are recorded: the specification names none of them.",
  across: { dialect: DIALECTS, case: ["short", "long", "slow"] },
  cost: { requests: 6, waitS: 3 },
  async run(t) {
    const long = t.case === "long" && (await t.hasModel("stream"));
    const slow = t.case === "slow" && (await t.hasModel("slow"));
    const request: RequestSpec = {
      mode: "streaming",
      // A slow model may be silent for as long as the target allows.
      ...(t.case === "slow" ? {} : { bounds: { idleMs: 12_000 } }),
      ...(long ? { model: "stream" } : slow ? { model: "slow" } : {}),
    };
    const control = await t.send(request);
    const nonStreaming =
      t.dialect === "messages" && !control.admitted ? await t.send({ ...request, mode: "non-streaming" }) : null;
    const leaving: RequestSpec = { ...request, freshConnection: true, headers: [["Connection", "close"]] };
    const more =
      t.case !== "short"
        ? []
        : await Promise.all([request, request, request, request, leaving].map((one) => t.send(one)));
    return { control: { control, nonStreaming }, more };
  },
  judge({ control, more }, verdict, axes) {
    const { status = 0 } = control.control;
    if (axes.case === "slow" && isTimedOut(control.control.exchange))
      return verdict.inconclusive("the slow model is slower than the target's time-outs");
    if (control.nonStreaming !== null && status >= 400) assumeControl(verdict, control);
    for (const response of [control.control, ...more]) {
      if (response.status === undefined || response.status >= 300) verdict.requireControl(response, "a plain stream");
      judgeEnd(response, verdict);
    }
    const { framing, endMarkers, comments, events } = control.control.stream;
    const type = control.control.header("content-type");
    const requirement = control.control.requested.endpoint === "messages" ? "MSG-14" : "STREAM-5";
    const names = [...new Set(events.map(({ name }) => name).filter((name) => name !== undefined))];
    verdict.observe(
      requirement,
      { framing, type, endMarkers, comments, events: events.length, names },
      { in: control.control },
    );
  },
});

function judgeEnd(response: Response, verdict: Verdict): void {
  const seen = { in: response };
  verdict.should("STREAM-3", response.exchange.ending.kind, "complete", { ...seen, at: "ending" });
  const { tailMs } = arrivalOf(response);
  if (response.complete && tailMs !== undefined) {
    verdict.should("STREAM-3", Math.round(tailMs), atMost(MAX_TAIL_MS), {
      ...seen,
      because: "ms from the last output to the end",
    });
  }
}

const TEXTS: Readonly<Record<string, string>> = {
  short: "The quick brown fox jumps over the lazy dog.",
  multibyte: MULTIBYTE_TEXT,
  special: SPECIAL_TEXT,
  spaces: SPACED_TEXT,
  markup: MARKUP_TEXT,
  long: LONG_TEXT,
};

const textIsIntact = defineCheck({
  id: "streaming.text-intact",
  title: "Streamed text is the reply text, complete and uncorrupted",
  covers: ["STREAM-4"],
  explains:
    "Sends a model that repeats its prompt the same text once non-streaming and several times streaming. The streamed text should be the same, character for character, without replacement characters. A difference means lost, duplicated or corrupted pieces.",
  needs: ["model.echo"],
  across: { dialect: DIALECTS, case: Object.keys(TEXTS) },
  cost: { requests: 7 },
  async run(t) {
    const request: RequestSpec = { model: "echo", prompt: TEXTS[t.case] ?? "", maxTokens: AMPLE_TOKENS };
    const chat: RequestSpec = { ...request };
    const own = t.dialect === "chat" ? withoutLimit(chat) : chat;
    const nonStreaming = await t.send({ ...own, mode: "non-streaming" });
    const streams: Response[] = [];
    for (let run = 0; run < 3; run++)
      streams.push(...(await Promise.all([1, 2].map(() => t.send({ ...own, mode: "streaming" })))));
    return { nonStreaming, streams };
  },
  judge({ nonStreaming, streams }, verdict) {
    verdict.requireControl(nonStreaming, "the non-streaming form");
    judgeSameText(nonStreaming, streams, verdict);
  },
});

function withoutLimit({ maxTokens: _, ...request }: RequestSpec): RequestSpec {
  return request;
}

function judgeSameText(nonStreaming: Response, streams: readonly Response[], verdict: Verdict): void {
  const whole = streams.filter((response) => !isCutByUs(response));
  if (whole.length === 0 && streams.length > 0)
    verdict.inconclusive("these streams were cut, because the run already keeps as much as it may");
  const served = whole.filter(({ status = 0 }) => status >= 200 && status < 300);
  if (served.length === 0) {
    const [first] = whole;
    if (first !== undefined && first.requested.endpoint === "messages")
      verdict.notApplicable(`no streaming on /messages (${first.summary})`);
    if (first !== undefined) verdict.requireControl(first, "a plain stream");
  }
  const expected = nonStreaming.replyText ?? "";
  for (const response of served) {
    const text = response.replyText;
    if (text === undefined) continue;
    const seen = { in: response, because: difference(expected, text) ?? "same text" };
    verdict.should("STREAM-4", text === expected, isTrue("the text of the non-streaming reply"), seen);
    const broken = text.includes("\uFFFD") && !expected.includes("\uFFFD");
    verdict.should("STREAM-4", broken, false, { in: response, because: "replacement characters in the streamed text" });
  }
  if (verdict.findings.length === 0) verdict.notApplicable("the text of this stream has no known place");
}

/** Describes where two texts differ. */
function difference(expected: string, actual: string): string | undefined {
  if (expected === actual) return undefined;
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) at++;
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 10), at + 20));
  return `texts part at character ${at} of ${expected.length}: non-streaming ${around(expected)}, streaming ${around(actual)}`;
}

const longTextIsIntact = defineCheck({
  id: "streaming.long-intact",
  title: "A long streamed reply equals the non-streaming one",
  covers: ["STREAM-4"],
  explains:
    "Where the long model is predictable (two non-streaming replies are the same), its streams should have the same text. A difference means that pieces are lost late in a stream. A model whose replies vary cannot be judged this way.",
  needs: ["model.stream"],
  across: { dialect: DIALECTS },
  cost: { requests: 5, waitS: 3 },
  async run(t) {
    const request: RequestSpec = {
      model: "stream",
      prompt: LONG_STORY,
      ...(t.dialect === "messages" ? { maxTokens: AMPLE_TOKENS } : {}),
    };
    const [first, second, ...streams] = await Promise.all([
      t.send({ ...request, mode: "non-streaming" }),
      t.send({ ...request, mode: "non-streaming" }),
      ...[1, 2, 3].map(() => t.send({ ...request, mode: "streaming" as const })),
    ]);
    return { first, second, streams };
  },
  judge({ first, second, streams }, verdict) {
    verdict.requireControl(first, "the non-streaming form");
    verdict.requireControl(second, "the non-streaming form");
    if (first.replyText === undefined || first.replyText !== second.replyText) {
      return verdict.notApplicable("the long model does not repeat itself, so its texts cannot be compared");
    }
    judgeSameText(first, streams, verdict);
  },
});

const cutStream = defineCheck({
  id: "streaming.cut",
  title: "How a mid-stream failure is signalled",
  covers: ["STREAM-6", "STREAM-4"],
  explains:
    "The upstream interrupts the stream. How the gateway signals it is recorded, prominently if the ending looks complete. Text that was already sent should not be repeated in the same response: a retry generates different text.",
  needs: ["model.cutStream"],
  across: { dialect: DIALECTS },
  cost: { requests: 2 },
  async run(t) {
    return {
      response: await sendPastRate(t, {
        model: "cutStream",
        mode: "streaming",
        intent: "invalid",
        // A slow model may be silent for as long as the target allows.
        ...(t.case === "slow" ? {} : { bounds: { idleMs: 12_000 } }),
      }),
    };
  },
  judge({ response }, verdict) {
    const { endMarkers, finishReasons, errors, pieces } = response.stream;
    const looksComplete = response.complete && errors.length === 0 && (endMarkers > 0 || finishReasons.length > 0);
    verdict.observe(
      "STREAM-6",
      {
        status: response.status,
        ending: response.exchange.ending.kind,
        errors: errors.length,
        endMarkers,
        finishReasons,
        looksComplete,
      },
      { in: response, ...(looksComplete ? { because: "the broken stream looks like a complete one" } : {}) },
    );
    const texts = pieces.map(({ text }) => text);
    verdict.should("STREAM-4", restarts(texts), false, {
      in: response,
      because: "the text begins again inside one reply",
    });
  },
});

/** Whether the beginning of a text appears again later, long enough not to be chance. */
function restarts(pieces: readonly string[]): boolean {
  const text = pieces.join("");
  const opening = text.slice(0, Math.max(24, Math.floor(text.length / 8)));
  return opening.length >= 24 && text.indexOf(opening, opening.length) !== -1;
}

const goodStreamsAreComplete = defineInvariant({
  id: "streaming.always-complete",
  title: "No stream of the run is truncated",
  covers: ["STREAM-3", "STREAM-4"],
  explains:
    "Checks every stream of the run that was served. Each should end normally, and when nearly all of them close with an end marker or a finish reason, one without it was truncated.",
  judge(responses, verdict) {
    const streams = responses.filter(
      ({ requested, status = 0, streamed }) =>
        requested.mode === "streaming" &&
        requested.intent === "valid" &&
        requested.endpoint !== "models" &&
        status >= 200 &&
        status < 300 &&
        streamed,
    );
    if (streams.length === 0) return verdict.inconclusive("no stream was served");
    const broken = streams.filter(
      ({ exchange }) => exchange.ending.kind === "reset" || exchange.ending.kind === "idle-timeout",
    );
    verdict.should("STREAM-3", broken.length, 0, {
      in: broken[0],
      because: `${broken.length} of ${streams.length} were interrupted`,
    });
    for (const endpoint of DIALECTS) {
      const complete = streams.filter(({ requested, complete }) => requested.endpoint === endpoint && complete);
      for (const [what, has] of CLOSINGS) {
        const closed = complete.filter(has);
        // A gateway without the marker is legal; if it usually sends the marker and sometimes does not, an ending was lost.
        if (closed.length < complete.length * 0.7) continue;
        const cut = complete.filter((response) => !has(response));
        verdict.should("STREAM-4", cut.length, 0, {
          in: cut[0],
          because: `${cut.length} of ${complete.length} ${endpoint} streams without ${what}`,
        });
      }
    }
  },
});

const everyStream = defineInvariant({
  id: "streaming.every-stream",
  title: "A chat request with stream: true gets a stream",
  covers: ["STREAM-1"],
  explains:
    "Checks every served chat request of the run with `stream: true`, whichever check sent it and whichever model it names. The response must not be the JSON document of a non-streaming reply, because clients parse the body as events and find none.",
  judge(responses, verdict) {
    const served = responses.filter(({ requested, status = 0, exchange, complete }) => {
      if (requested.endpoint !== "chat" || requested.mode !== "streaming" || !complete) return false;
      if (requested.intent !== "valid" || status < 200 || status > 299) return false;
      return member(parseJson(exchange.request.body ?? ""), "stream") === true;
    });
    if (served.length === 0) return verdict.inconclusive("no stream was served");
    const documents = served.filter(({ streamed, reply }) => !streamed && reply.parts !== undefined);
    verdict.must("STREAM-1", documents.length, 0, {
      in: documents[0] ?? served[0],
      at: "Content-Type",
      because: `streams (of ${served.length}) that were sent as one JSON document`,
    });
  },
});

const CLOSINGS: readonly (readonly [string, (response: Response) => boolean])[] = [
  ["an end marker", ({ stream }) => stream.endMarkers > 0],
  ["a finish reason", ({ stream }) => stream.finishReasons.length > 0],
  ["output", ({ stream }) => stream.outputs > 0],
];

export const STREAMING: readonly Check[] = [
  ...INCREMENTAL,
  ends,
  textIsIntact,
  longTextIsIntact,
  ...LONG_EVENTS,
  cutStream,
  goodStreamsAreComplete,
  everyStream,
];
