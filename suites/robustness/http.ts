import {
  atMost,
  type Check,
  callerError,
  defineCheck,
  filledString,
  type RequestSpec,
  type Response,
  serverError,
  that,
} from "../../src/checks/index.ts";
import { DIALECTS, headerValues } from "../../src/dialects/index.ts";
import { AMPLE_TOKENS, LONG_TEXT } from "../shared/texts.ts";

const answeredWithoutServerError = that(
  "an answer, and no server error",
  (status) => status !== undefined && !serverError.test(status),
);

const METHODS: Readonly<Record<string, RequestSpec>> = {
  "get-chat": { endpoint: "chat", method: "GET" },
  "put-chat": { endpoint: "chat", method: "PUT" },
  "delete-messages": { endpoint: "messages", method: "DELETE" },
  "get-messages": { endpoint: "messages", method: "GET" },
  "patch-messages": { endpoint: "messages", method: "PATCH" },
  "delete-models": { endpoint: "models", method: "DELETE" },
  "post-models": { endpoint: "chat", path: "/models" },
};

const wrongMethods = defineCheck({
  id: "robustness.method",
  title: "A method that a path does not know is refused as the caller's error",
  covers: ["HTTP-METHOD", "HTTP-ALLOW", "BASE-5"],
  explains:
    "405 is usual, 404 is as good. A success or a server error is a warning; a 405 has to say in Allow which methods there are.",
  across: { case: Object.keys(METHODS) },
  cost: { requests: 1 },
  async run(t) {
    return { answer: await t.send({ ...METHODS[t.case], intent: "odd" }) };
  },
  judge({ answer }, verdict) {
    const seen = { in: answer, at: "status", because: answer.summary };
    verdict.observe("BASE-5", answer.summary, { in: answer });
    verdict.should("HTTP-METHOD", answer.status, callerError, seen);
    if (answer.status === 405)
      verdict.must("HTTP-ALLOW", answer.header("allow"), filledString, { in: answer, at: "Allow" });
  },
});

const headAndOptions = defineCheck({
  id: "robustness.head-options",
  title: "HEAD has no body, and neither HEAD nor OPTIONS is a server error",
  covers: ["HTTP-HEAD", "HTTP-METHOD", "HTTP-ALLOW", "BASE-5"],
  explains:
    "Whether HEAD and OPTIONS are known is open. A body after HEAD breaks the connection for whatever comes next on it.",
  across: { case: ["head-models", "head-chat", "options-models", "options-chat", "options-messages"] },
  cost: { requests: 2 },
  async run(t) {
    const [method = "", endpoint] = t.case.split("-");
    const request: RequestSpec = {
      method: method.toUpperCase(),
      endpoint: endpoint === "models" ? "models" : endpoint === "messages" ? "messages" : "chat",
      intent: "odd",
    };
    const before = await t.control({ endpoint: "models" });
    return { before, answer: await t.send(request), next: await t.send({ endpoint: "models" }) };
  },
  judge({ before, answer, next }, verdict, axes) {
    verdict.observe("BASE-5", answer.summary, { in: answer });
    verdict.should("HTTP-METHOD", answer.status, answeredWithoutServerError, {
      in: answer,
      at: "status",
      because: answer.summary,
    });
    if (answer.status === 405)
      verdict.must("HTTP-ALLOW", answer.header("allow"), filledString, { in: answer, at: "Allow" });
    if (axes.case?.startsWith("head") !== true) return;
    const clean = answer.exchange.afterwards === undefined && answer.exchange.ending.kind !== "protocol-error";
    verdict.must("HTTP-HEAD", clean, true, { in: answer, because: answer.exchange.afterwards ?? answer.summary });
    // A list that is never served says nothing about what HEAD did to the connection.
    if (before.admitted)
      verdict.must("HTTP-HEAD", next.admitted, true, { in: next, because: `the next request: ${next.summary}` });
  },
});

const ADDRESSES: Readonly<Record<string, RequestSpec>> = {
  "broken-escape": { endpoint: "models", path: "/models/%zz" },
  "nul-escape": { endpoint: "models", path: "/models/%00" },
  dots: { endpoint: "models", path: "/models/..%2f..%2fetc" },
  "long-path": { endpoint: "models", path: `/models/${"a".repeat(4_000)}` },
  "unknown-query": { endpoint: "models", query: "?gauntlet=1&gauntlet=2" },
  "broken-query": { endpoint: "models", query: "?%E0%A4%A" },
};

const addresses = defineCheck({
  id: "robustness.url",
  title: "A malformed address or an unknown query is no server error",
  covers: ["HTTP-URL", "BASE-5"],
  explains:
    "Broken escapes, long paths and unknown query parameters come from scanners and proxies every day. They may be served or refused, not answered with 5xx or silence.",
  across: { case: Object.keys(ADDRESSES) },
  cost: { requests: 1 },
  async run(t) {
    return { answer: await t.send({ ...ADDRESSES[t.case], intent: "odd" }) };
  },
  judge({ answer }, verdict) {
    verdict.observe("BASE-5", answer.summary, { in: answer });
    verdict.should("HTTP-URL", answer.status, answeredWithoutServerError, {
      in: answer,
      at: "status",
      because: answer.summary,
    });
  },
});

const unknownHeaders = defineCheck({
  id: "robustness.unknown-header",
  title: "Header fields that are not known are ignored",
  covers: ["HTTP-UNKNOWN-HEADER", "BASE-5"],
  explains:
    "Proxies and tracing add headers of their own. A good request with such headers, and with odd letter case in the known ones, should be served.",
  across: { dialect: DIALECTS, case: ["unknown", "odd-case", "tracing"] },
  cost: { requests: 2 },
  async run(t) {
    const { version, versionValue } = t.target.headers;
    const key = t.target.keys.valid.reveal();
    const asks: Readonly<Record<string, RequestSpec>> = {
      unknown: {
        headers: [
          ["X-Gauntlet-Unknown", "1"],
          ["Gauntlet-Beta", "tools-2026"],
        ],
      },
      tracing: {
        headers: [
          ["Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
          ["X-Forwarded-For", "203.0.113.7"],
          ["Idempotency-Key", "gauntlet-1"],
        ],
      },
      "odd-case": {
        authorization: `Bearer ${key}`,
        headers: [
          ["cOnTeNt-TyPe", "application/json"],
          ...(t.dialect === "messages" ? [[version.toUpperCase(), versionValue] as const] : []),
        ],
      },
    };
    return { control: await t.control(), answer: await t.send({ ...asks[t.case], intent: "odd" }) };
  },
  judge({ control, answer }, verdict) {
    verdict.assumeGood(control);
    verdict.observe("BASE-5", answer.summary, { in: answer });
    verdict.should("HTTP-UNKNOWN-HEADER", answer.admitted, true, { in: answer, because: answer.summary });
  },
});

/** Requests one after the other on a connection, and whether the gateway kept it. */
const keepAlive = defineCheck({
  id: "robustness.keep-alive",
  title: "A connection stays usable after an answer that does not announce its end",
  covers: ["HTTP-KEEP-ALIVE"],
  explains:
    "Requests one after the other after successes, streams, denials and refusals. HTTP/1.1 keeps a connection open unless `Connection: close` says otherwise; one that is closed without a word costs clients a handshake each time, and now and then a failed request.",
  across: { case: ["success", "stream", "denial", "refusal"] },
  cost: { requests: 12 },
  schedule: { order: "exclusive" },
  async run(t) {
    const asks: Readonly<Record<string, RequestSpec>> = {
      success: {},
      stream: { mode: "streaming" },
      denial: { model: "unknown", intent: "denied" },
      refusal: { rawBody: '{"model":', intent: "odd" },
    };
    const pairs: { first: Response; second: Response }[] = [];
    for (let round = 0; round < 6; round++)
      pairs.push({ first: await t.send({ ...asks[t.case] }), second: await t.send({ endpoint: "models" }) });
    return { pairs };
  },
  judge({ pairs }, verdict) {
    const announced = ({ headers, exchange }: Response) =>
      headerValues(headers, "connection").some((value) => /\bclose\b/i.test(value)) ||
      exchange.ending.kind !== "complete" ||
      isDelimitedByClose(exchange.response);
    const silent = pairs.filter(({ first }) => !announced(first));
    if (silent.length < 3) return verdict.notApplicable("the gateway announces that it closes its connections");
    // Nothing else is under way: the next request takes the connection that the first one left, if it is still there.
    // What met a connection that was closed under it was repeated on a new one.
    const lost = silent.filter(
      ({ first, second }) =>
        second.exchange.connection.id !== first.exchange.connection.id || first.asked.repeats !== undefined,
    );
    const most = that("fewer than half of them", (count) => (count as number) < silent.length / 2);
    verdict.should("HTTP-KEEP-ALIVE", lost.length, most, {
      in: lost[0]?.first,
      because: `of ${silent.length} connections were closed without a word after the answer`,
    });
  },
});

/** Requests on one connection, and the pause after each: long enough that a close on the way has arrived. */
const WORN_REQUESTS = 84;
const PAUSE_MS = 30;
/** A slow gateway is asked less often, ms in all. */
const WORN_MS = 20_000;

/** A connection that rested longer may have met the gateway's idle timeout at the moment of the next request. */
const LONGEST_REST_MS = 900;

const wornConnection = defineCheck({
  id: "robustness.long-lived-connection",
  title: "A connection in steady use is not cut off under a request",
  covers: ["STEADY-SERVICE"],
  explains:
    "Eighty requests one after the other on one connection with short pauses. A gateway may close a connection between two requests at any time; cutting it after a request went out, with no rest that an idle timeout could explain, fails the caller. One such cut may be chance, two are a warning.",
  cost: { requests: WORN_REQUESTS },
  schedule: { order: "exclusive" },
  async run(t) {
    const answers: Response[] = [];
    const endUs = t.nowUs() + WORN_MS * 1_000;
    for (let count = 0; count < WORN_REQUESTS && t.nowUs() < endUs; count++) {
      answers.push(await t.send());
      await t.wait(PAUSE_MS);
    }
    return { answers };
  },
  judge({ answers }, verdict) {
    // What met a cut connection was repeated once on a new one.
    const cut = answers.filter(({ asked, exchange }, at) => {
      const restMs = exchange.startedAtMs - (answers[at - 1]?.exchange.startedAtMs ?? 0);
      return asked.repeats !== undefined && exchange.connection.earlier === 0 && restMs < LONGEST_REST_MS;
    });
    verdict.should("STEADY-SERVICE", cut.length, atMost(1), {
      in: cut[0],
      because: `of ${answers.length} requests met a connection that was cut after they went out`,
    });
  },
});

/** A body without length and without chunks ends with its connection, which says all there is to say. */
function isDelimitedByClose(response: Response["exchange"]["response"]): boolean {
  if (response === undefined) return true;
  const names = response.headers.map(([name]) => name.toLowerCase());
  return !names.includes("content-length") && !names.includes("transfer-encoding");
}

const CODINGS: Readonly<Record<string, string>> = {
  gzip: "gzip",
  br: "br",
  both: "gzip, deflate, br",
  identity: "identity",
};

const NOT_CODED = that("absent or identity", (value) => value === undefined || value === "identity");

const compression = defineCheck({
  id: "robustness.compression",
  title: "Answers decode as they are labelled, whatever was accepted",
  covers: ["HTTP-CODING", "JSON-TEXT"],
  explains:
    "Replies, streams, lists, denials and refusals with several values of Accept-Encoding. Each body must decode by its Content-Encoding and hold what it holds otherwise: no label without coding, no coding without label, nothing coded twice, and nothing coded for who accepts the identity alone (RFC 9110, 12.5.3).",
  across: { dialect: DIALECTS, case: Object.keys(CODINGS) },
  cost: { requests: 5 },
  async run(t) {
    const headers = [["Accept-Encoding", CODINGS[t.case] ?? ""]] as const;
    return {
      reply: await t.send({ headers }),
      long: await t.send({
        headers,
        prompt: LONG_TEXT,
        ...(t.dialect === "messages" ? { maxTokens: AMPLE_TOKENS } : {}),
      }),
      stream: await t.send({ headers, mode: "streaming", intent: "odd" }),
      list: await t.send({ headers, endpoint: "models" }),
      denied: await t.send({ headers, model: "unknown", intent: "denied" }),
      refused: await t.send({ headers, rawBody: "{", intent: "odd" }),
    };
  },
  judge(answers, verdict, axes) {
    for (const [what, answer] of Object.entries(answers)) {
      const seen = {
        in: answer,
        at: "Content-Encoding",
        because: `${what}: ${answer.header("content-encoding") ?? "no label"}`,
      };
      if (axes.case === "identity") verdict.should("HTTP-CODING", answer.header("content-encoding"), NOT_CODED, seen);
      verdict.must("HTTP-CODING", answer.exchange.response?.body.decodeError, undefined, seen);
      verdict.must("HTTP-CODING", isCompressed(answer.bytes), false, {
        ...seen,
        because: `${what}: the decoded body is still compressed`,
      });
      if (what !== "stream" && isLabelledJson(answer))
        verdict.must("JSON-TEXT", answer.json !== undefined, true, { in: answer, because: `${what} is JSON` });
    }
    verdict.must("HTTP-CODING", answers.reply.admitted || answers.reply.asked.mode === "streaming", true, {
      in: answers.reply,
      because: answers.reply.summary,
    });
  },
});

function isCompressed(bytes: Uint8Array): boolean {
  return bytes.length > 2 && bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function isLabelledJson(answer: Response): boolean {
  return /json/i.test(answer.header("content-type") ?? "") && answer.bytes.length > 0;
}

const expectation = defineCheck({
  id: "robustness.expect-continue",
  title: "A request that expects 100-continue is answered like any other",
  covers: ["HTTP-EXPECT"],
  explains:
    "Clients and proxies announce larger bodies with Expect: 100-continue. The request should be served (417 is a fair refusal), not answered with a server error and not left waiting.",
  across: { dialect: DIALECTS },
  cost: { requests: 2 },
  async run(t) {
    const control = await t.control();
    const { status, continued, ms } = await t.expectContinue();
    return { control, status, continued, ms };
  },
  judge({ control, status, continued, ms }, verdict) {
    verdict.assumeGood(control);
    const fair = that(
      "2xx or 417",
      (value) => value === 417 || (typeof value === "number" && value >= 200 && value < 300),
    );
    verdict.should("HTTP-EXPECT", status ?? `no answer within ${ms} ms`, fair, {
      at: "status",
      because: continued ? "the body was asked for" : "the body was not asked for",
    });
  },
});

export const HTTP: readonly Check[] = [
  wrongMethods,
  headAndOptions,
  addresses,
  unknownHeaders,
  keepAlive,
  wornConnection,
  compression,
  expectation,
];
