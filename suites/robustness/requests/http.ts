import { type Check, defineCheck, type RequestSpec, type Session } from "../../../src/checks/index.ts";
import { DIALECTS } from "../../../src/dialects/index.ts";
import { aReply, callerError, filledString, isTrue, serverError, that } from "../../../src/judging/index.ts";
import { dialectOfCase } from "../../shared/cases/dialect-of-case.ts";

const noServerError = that(
  "a response, and no server error",
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

/** This many random digits. */
const hex = (t: Session, digits: number): string =>
  Array.from({ length: digits }, () => Math.floor(t.random() * 16).toString(16)).join("");

const wrongMethods = defineCheck({
  id: "robustness.method",
  title: "A method that a path does not support is rejected as the caller's error",
  covers: ["HTTP-METHOD", "HTTP-ALLOW", "BASE-5"],
  explains:
    "405 is usual, 404 is acceptable. A success or a server error is a warning; so is a 405 without the supported methods in Allow.",
  dialect: dialectOfCase(METHODS),
  across: { case: Object.keys(METHODS) },
  cost: { requests: 1 },
  async run(t) {
    return { response: await t.send({ ...METHODS[t.case], intent: "invalid" }) };
  },
  judge({ response }, verdict) {
    const seen = { in: response, at: "status" };
    verdict.observe("BASE-5", response.summary, { in: response });
    verdict.should("HTTP-METHOD", response.status, callerError, seen);
    if (response.status === 405)
      verdict.should("HTTP-ALLOW", response.header("allow"), filledString, { in: response, at: "Allow" });
  },
});

const HEAD_AND_OPTIONS: Readonly<Record<string, RequestSpec>> = {
  "head-models": { endpoint: "models", method: "HEAD" },
  "head-chat": { endpoint: "chat", method: "HEAD" },
  "options-models": { endpoint: "models", method: "OPTIONS" },
  "options-chat": { endpoint: "chat", method: "OPTIONS" },
  "options-messages": { endpoint: "messages", method: "OPTIONS" },
};

const headAndOptions = defineCheck({
  id: "robustness.head-options",
  title: "The response to HEAD has no body, and neither HEAD nor OPTIONS is a server error",
  covers: ["HTTP-HEAD", "HTTP-METHOD", "HTTP-ALLOW", "BASE-5"],
  explains:
    "The specification does not mention HEAD and OPTIONS. A body after HEAD corrupts whatever follows on the connection.",
  dialect: dialectOfCase(HEAD_AND_OPTIONS),
  across: { case: Object.keys(HEAD_AND_OPTIONS) },
  cost: { requests: 2 },
  async run(t) {
    const request: RequestSpec = { ...HEAD_AND_OPTIONS[t.case], intent: "invalid" };
    const before = await t.control({ endpoint: "models" });
    return { before, response: await t.send(request), next: await t.send({ endpoint: "models" }) };
  },
  judge({ before, response, next }, verdict, axes) {
    verdict.observe("BASE-5", response.summary, { in: response });
    verdict.should("HTTP-METHOD", response.status, noServerError, { in: response, at: "status" });
    if (response.status === 405)
      verdict.should("HTTP-ALLOW", response.header("allow"), filledString, { in: response, at: "Allow" });
    if (axes.case?.startsWith("head") !== true) return;
    const clean = response.exchange.afterwards === undefined && response.exchange.ending.kind !== "protocol-error";
    verdict.must("HTTP-HEAD", clean, isTrue("nothing behind the head"), {
      in: response,
      because: response.exchange.afterwards,
    });
    // A list that is never served says nothing about what HEAD did to the connection.
    if (before.admitted) verdict.must("HTTP-HEAD", next.admitted, aReply, { in: next, because: "the next request" });
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
  title: "A malformed address or an unknown query is not a server error",
  covers: ["HTTP-URL", "BASE-5"],
  explains:
    "Scanners and proxies send broken escapes, long paths and unknown query parameters every day. These may be served or rejected, but not with a 5xx or no response.",
  across: { case: Object.keys(ADDRESSES) },
  cost: { requests: 1 },
  async run(t) {
    return { response: await t.send({ ...ADDRESSES[t.case], intent: "invalid" }) };
  },
  judge({ response }, verdict) {
    verdict.observe("BASE-5", response.summary, { in: response });
    verdict.should("HTTP-URL", response.status, noServerError, { in: response, at: "status" });
  },
});

const unknownHeaders = defineCheck({
  id: "robustness.unknown-header",
  title: "Unknown header fields are ignored",
  covers: ["HTTP-UNKNOWN-HEADER", "BASE-5"],
  explains:
    "Proxies and tracing add their own headers. A valid request with such headers, and with unusual letter case in the known ones, should be served.",
  across: { dialect: DIALECTS, case: ["unknown", "odd-case", "tracing"] },
  cost: { requests: 2 },
  async run(t) {
    const { version, versionValue } = t.target.headers;
    const key = t.target.keys.valid.reveal();
    const specs: Readonly<Record<string, RequestSpec>> = {
      unknown: {
        headers: [
          ["X-Gauntlet-Unknown", "1"],
          ["Gauntlet-Beta", "tools-2026"],
        ],
      },
      tracing: {
        headers: [
          ["Traceparent", `00-${hex(t, 32)}-${hex(t, 16)}-01`],
          ["X-Forwarded-For", "203.0.113.7"],
          // A unique one: a gateway that already knows it repeats its response.
          ["Idempotency-Key", t.nonce()],
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
    return { control: await t.control(), response: await t.send({ ...specs[t.case], intent: "invalid" }) };
  },
  judge({ control, response }, verdict) {
    verdict.requireControl(control);
    verdict.observe("BASE-5", response.summary, { in: response });
    verdict.should("HTTP-UNKNOWN-HEADER", response.admitted, aReply, { in: response });
  },
});

const expectation = defineCheck({
  id: "robustness.expect-continue",
  title: "A request with Expect: 100-continue gets the same response as any other",
  covers: ["HTTP-EXPECT"],
  explains:
    "Clients and proxies announce larger bodies with Expect: 100-continue. The request should be served (417 is an acceptable rejection), not get a server error or be left waiting.",
  across: { dialect: DIALECTS },
  cost: { requests: 2 },
  async run(t) {
    const control = await t.control();
    const { status, continued, ms } = await t.expectContinue();
    return { control, status, continued, ms };
  },
  judge({ control, status, continued, ms }, verdict) {
    verdict.requireControl(control);
    const fair = that(
      "2xx or 417",
      (value) => value === 417 || (typeof value === "number" && value >= 200 && value < 300),
    );
    verdict.should("HTTP-EXPECT", status ?? `no response within ${ms} ms`, fair, {
      at: "status",
      because: continued ? "the gateway sent 100 Continue" : "the gateway did not send 100 Continue",
    });
  },
});

export const HTTP: readonly Check[] = [wrongMethods, headAndOptions, addresses, unknownHeaders, expectation];
