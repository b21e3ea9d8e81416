import { type Check, defineCheck, FILLER, type RequestSpec, type Response } from "../../../src/checks/index.ts";
import { DIALECTS, MODES } from "../../../src/dialects/index.ts";
import { aReply, callerError, isTrue, notServerError, serverError, that } from "../../../src/judging/index.ts";
import { assumeControl, sendControl } from "../../shared/requests/control-request.ts";
import { inTurns } from "../../shared/requests/texts.ts";

const NESTED = `${'{"a":['.repeat(5_000)}1${"]}".repeat(5_000)}`;

/** Bodies that no gateway can serve. Any 4xx is acceptable. */
const BAD: Readonly<Record<string, RequestSpec>> = {
  truncated: { rawBody: '{"model": "x", "max_tokens": 5, "messages": [{"role": "user", "cont' },
  empty: { rawBody: "" },
  "not-json": { rawBody: "model=x&messages=hello" },
  null: { rawBody: "null" },
  array: { rawBody: "[]" },
  string: { rawBody: '"hello"' },
  "invalid-utf8": { rawBody: Buffer.from([0x7b, 0x22, 0x6d, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]) },
  nested: { rawBody: NESTED },
  "messages-is-a-string": { fields: { messages: "hello" } },
  "empty-object": { rawBody: "{}" },
  "messages-is-null": { fields: { messages: null } },
  "messages-is-empty": { fields: { messages: [] } },
  "message-is-null": { fields: { messages: [null] } },
  "message-without-role": { fields: { messages: [{ content: "hello" }] } },
  "content-is-a-number": { fields: { messages: [{ role: "user", content: 42 }] } },
  "model-is-a-number": { fields: { model: 42 } },
  "stream-is-a-list": { fields: { stream: [] } },
};

/** Cases in which gateways may legitimately differ: only a server error or no response counts against them. */
const LENIENT = ["message-without-role"];

const badBodies = defineCheck({
  id: "robustness.bad-body",
  title: "A body that cannot be parsed is rejected",
  covers: ["BAD-BODY"],
  explains:
    "Sends truncated, empty, mistyped, badly encoded and deeply nested bodies in both dialects, streaming and non-streaming. Each should get a 4xx: never a server error, a reply or a dropped connection.",
  across: { dialect: DIALECTS, mode: MODES, case: Object.keys(BAD) },
  cost: { requests: 1 },
  async run(t) {
    const control = await sendControl(t);
    return { control, refused: await t.send({ ...BAD[t.case], intent: "invalid" }) };
  },
  judge({ control, refused }, verdict, axes) {
    assumeControl(verdict, control);
    const seen = { in: refused, at: "status" };
    const lenient = LENIENT.includes(axes.case ?? "");
    const expected = lenient
      ? that("a response, and no server error", (status) => status !== undefined && !serverError.test(status))
      : callerError;
    verdict.should("BAD-BODY", refused.status, expected, seen);
    verdict.should("BAD-BODY", refused.exchange.ending.kind, "complete", { ...seen, at: "ending" });
  },
});

const CONTENT_TYPES: Readonly<Record<string, RequestSpec>> = {
  "text-plain": { headers: [["Content-Type", "text/plain"]] },
  form: { headers: [["Content-Type", "application/x-www-form-urlencoded"]] },
  none: { without: ["Content-Type"] },
  "with-charset": { headers: [["Content-Type", "application/json; charset=utf-8"]] },
};

const contentTypes = defineCheck({
  id: "robustness.content-type",
  title: "Another content type is accepted or rejected, without a server error",
  covers: ["BAD-BODY", "SPEND-14"],
  explains:
    "A JSON body with another content type, or without one, may be served or rejected with 4xx. With an explicit charset it should be served.",
  across: { dialect: DIALECTS, case: Object.keys(CONTENT_TYPES) },
  cost: { requests: 2 },
  async run(t) {
    return { control: await t.control(), response: await t.send({ ...CONTENT_TYPES[t.case], intent: "invalid" }) };
  },
  judge({ control, response }, verdict, axes) {
    verdict.requireControl(control);
    const seen = { in: response, at: "status" };
    verdict.should(
      "BAD-BODY",
      response.status,
      that("a response, and no server error", (status) => status !== undefined && !serverError.test(status)),
      seen,
    );
    if (axes.case === "with-charset") verdict.should("BAD-BODY", response.admitted, aReply, seen);
    verdict.observe("SPEND-14", response.summary, { in: response });
  },
});

const SIZES: Readonly<Record<string, Pick<RequestSpec, "fillBytes" | "form">>> = {
  "100-kB": { fillBytes: 100_000 },
  "1-MB": { fillBytes: 1_000_000 },
  "4-MB": { fillBytes: 4_000_000 },
  "16-MB": { fillBytes: 16_000_000 },
  // Without a length, only counting shows that it is too large.
  "16-MB-in-chunks": { fillBytes: 16_000_000, form: "in-chunks" },
};

/**
 * A response may be lost with the connection once; if it is missing in this many attempts, it was not sent or can never be read.
 */
const ATTEMPTS = 3;

/** Whether the connection was closed or reset before any part of a response arrived. */
const isLost = ({ status, exchange }: Response): boolean => status === undefined && exchange.ending.kind === "reset";

const largeBodies = defineCheck({
  id: "robustness.large-body",
  title: "A large body is served or rejected, without a server error",
  covers: ["BAD-BODY", "RESPONSE-BEFORE-CLOSE", "SPEND-14"],
  explains:
    "The specification names no size limit. A long text, sent with its length or in chunks, may be served or rejected (normally with 413), even before all of it has been read: Gauntlet reads a response that arrives before the connection closes, even if it can no longer send the rest of the request. A 5xx is a warning. So are three connections in a row that are closed or reset without any response: the client cannot distinguish that from a broken network, and sends the same request again. Send the 413 first, then keep reading for a while or close in stages (RFC 9112, 9.6).",
  across: { dialect: DIALECTS, case: Object.keys(SIZES) },
  cost: { requests: 1 + ATTEMPTS },
  async run(t) {
    const request: RequestSpec = {
      // The output of a model that repeats its prompt must stay small: the bulk is in an earlier turn, and output is limited.
      prompt: inTurns("hello", FILLER, "Noted."),
      ...SIZES[t.case],
      maxTokens: 16,
      intent: "any",
      repeats: false,
      freshConnection: true,
    };
    const control = await t.control();
    let response = await t.send(request);
    const lost: Response[] = [];
    while (isLost(response) && lost.push(response) < ATTEMPTS) response = await t.send(request);
    return { control, response, lost };
  },
  judge({ control, response, lost }, verdict) {
    verdict.requireControl(control);
    verdict.observe("SPEND-14", { response: response.summary, ms: Math.round(response.durationMs) }, { in: response });
    if (response.status === undefined && lost.length < ATTEMPTS)
      return verdict.markUndecided("inconclusive", `no response: ${response.summary}`);
    const [first] = lost;
    verdict.should(
      "RESPONSE-BEFORE-CLOSE",
      lost.length < ATTEMPTS,
      isTrue(
        "a response before the connection is closed",
        first === undefined ? response.summary : `${lost.length} connections closed without one: ${first.summary}`,
      ),
      { in: first ?? response },
    );
    if (response.status === undefined) return;
    verdict.should("BAD-BODY", response.status, notServerError, { in: response, at: "status" });
  },
});

export const BODIES: readonly Check[] = [badBodies, contentTypes, largeBodies];
