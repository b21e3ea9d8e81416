import { type Check, defineCheck, type RequestSpec, type Response, type Session } from "../../src/checks/index.ts";
import { oneOf } from "../../src/judging/index.ts";
import { expectedDenial } from "../shared/judge/expected-denial.ts";
import { denialRequirements, judgeDenial } from "../shared/judge/judge-denial.ts";
import { nonexistentKey, swappedCase } from "../shared/requests/fabricated-key.ts";
import { dialectOfEndpoint, ENDPOINTS, endpointOf } from "./endpoints.ts";

/** A denied control on the list endpoint, which has no streaming form. */
async function onEndpoint(t: Session, wrong: RequestSpec) {
  const endpoint = endpointOf(t);
  const expected = expectedDenial(t, "invalid_api_key");
  const control = await t.control({ endpoint });
  const denied = await t.send({ endpoint, intent: "denied", ...wrong });
  const streamed =
    endpoint === "models" ? [] : [await t.send({ endpoint, intent: "denied", mode: "streaming", ...wrong })];
  return { control, denied: [denied, ...streamed], expected };
}

const missingKeyIsDenied = defineCheck({
  id: "auth.missing-key",
  title: "A request without a key is denied as invalid_api_key",
  covers: ["AUTH-2", "MODELS-5", ...denialRequirements("invalid_api_key")],
  explains:
    "Sends a valid request twice: with its key, which must be served, and without any Authorization header, which must get 401 with the reason invalid_api_key. A failure means that the endpoint is open, or uses a different denial.",
  dialect: dialectOfEndpoint,
  across: { case: ENDPOINTS },
  cost: { requests: 3 },
  run: (t) => onEndpoint(t, { key: null }),
  judge({ control, denied, expected }, verdict) {
    verdict.requireControl(control);
    for (const response of denied) {
      verdict.must("AUTH-2", response.status, expected.status, { in: response, at: "status" });
      if (response.requested.endpoint === "models") {
        verdict.must("MODELS-5", response.status, expected.status, { in: response, at: "status" });
        verdict.must("MODELS-5", response.reason, expected.readAs, { in: response, at: "reason" });
      }
      judgeDenial(verdict, response, expected);
    }
  },
});

const unknownKeyIsDenied = defineCheck({
  id: "auth.unknown-key",
  title: "A key that was never issued is denied as invalid_api_key",
  covers: ["AUTH-3", "SEC-3", ...denialRequirements("invalid_api_key")],
  explains:
    "Sends an invented key in the same format as the valid one. It must be denied with 401 invalid_api_key on every endpoint, streaming and non-streaming, and the response should not repeat it. A failure means that unknown keys are accepted, or that their denial looks like another one.",
  dialect: dialectOfEndpoint,
  across: { case: ENDPOINTS },
  cost: { requests: 3 },
  async run(t) {
    const invented = nonexistentKey(t).reveal();
    return { ...(await onEndpoint(t, { authorization: `Bearer ${invented}` })), invented };
  },
  judge({ control, denied, expected, invented }, verdict) {
    verdict.requireControl(control);
    for (const response of denied) {
      verdict.must("AUTH-3", response.status, expected.status, { in: response, at: "status" });
      judgeDenial(verdict, response, expected);
      const repeated = JSON.stringify(response.headers).includes(invented) || response.text.includes(invented);
      verdict.should("SEC-3", repeated, false, {
        in: response,
        because: "the response repeats the key that it rejects",
      });
    }
  },
});

/** Keys that differ from a valid one as little as possible. None was ever issued. */
const NEAR_KEYS: Readonly<Record<string, (key: string) => string>> = {
  "one-character-less": (key) => key.slice(0, -1),
  "one-character-more": (key) => `${key}x`,
  "last-character-changed": (key) => changedAt(key, key.length - 1),
  "middle-character-changed": (key) => changedAt(key, Math.floor(key.length / 2)),
  "first-half": (key) => key.slice(0, Math.ceil(key.length / 2)),
  "other-letter-case": swappedCase,
};

/** The key with one character replaced by another of its kind. */
function changedAt(key: string, at: number): string {
  const replacement = /[a-y0-8A-Y]/.test(key[at] ?? "") ? String.fromCharCode(key.charCodeAt(at) + 1) : "a";
  return key.slice(0, at) + replacement + key.slice(at + 1);
}

const nearKeyIsDenied = defineCheck({
  id: "auth.near-key",
  title: "A key that only resembles a valid one is denied",
  covers: ["AUTH-3", "ERR-401-INVALID"],
  explains:
    "Keys must be compared in full: the valid key with one character added, removed or changed, its first half, and the key in the opposite letter case were never issued and must be denied. A failure means that keys are compared by prefix or case-insensitively.",
  across: { dialect: ["chat", "messages"], case: Object.keys(NEAR_KEYS) },
  cost: { requests: 2 },
  async run(t) {
    const good = t.target.keys.valid.reveal();
    const near = NEAR_KEYS[t.case]?.(good) ?? good;
    if (near === good) return { control: null, denied: null, expected: expectedDenial(t, "invalid_api_key") };
    return {
      control: await t.control(),
      denied: await t.send({ authorization: `Bearer ${near}`, intent: "denied" }),
      expected: expectedDenial(t, "invalid_api_key"),
    };
  },
  judge({ control, denied, expected }, verdict) {
    if (control === null || denied === null) return verdict.notApplicable("the valid key has no letters to change");
    verdict.requireControl(control);
    verdict.must("AUTH-3", denied.status, expected.status, { in: denied, at: "status" });
    verdict.must("ERR-401-INVALID", denied.reason, expected.readAs, { in: denied, at: "reason" });
  },
});

/** Authorization values that are not bearer credentials, with the statuses that are as good as 401. */
const MALFORMED: Readonly<Record<string, { value: (key: string) => string; also?: readonly number[] }>> = {
  "empty-bearer": { value: () => "Bearer " },
  "scheme-only": { value: () => "Bearer" },
  "other-scheme": { value: (key) => `Basic ${Buffer.from(`:${key}`).toString("base64")}` },
  "other-scheme-with-key": { value: (key) => `Basic ${key}` },
  "invented-scheme": { value: (key) => `Token ${key}` },
  "no-scheme": { value: (key) => key },
  // Does not look like the key of any gateway, and was never issued either.
  short: { value: () => "Bearer abc" },
  // An HTTP server may refuse these two before it looks at credentials.
  "non-ascii": { value: () => "Bearer sk-\u00e4\u00f6\u00fc\u00df", also: [400] },
  "very-long": { value: () => `Bearer ${"k".repeat(6_000)}`, also: [400, 413, 431] },
};

const malformedCredentialIsDenied = defineCheck({
  id: "auth.malformed",
  title: "A malformed credential counts as missing or invalid",
  covers: ["AUTH-5"],
  explains:
    "Authorization values that are not bearer credentials are the caller's mistake: 401 with invalid_api_key is expected, never a server error and never a served request. A warning for 5xx means that a caller can crash the key check.",
  across: { dialect: ["chat", "messages"], case: Object.keys(MALFORMED) },
  cost: { requests: 2 },
  async run(t) {
    const { value, also = [] } = MALFORMED[t.case] ?? { value: () => "" };
    return {
      control: await t.control(),
      denied: await t.send({ authorization: value(t.target.keys.valid.reveal()), intent: "denied" }),
      allowed: [expectedDenial(t, "invalid_api_key").status, ...also],
      readAs: expectedDenial(t, "invalid_api_key").readAs,
    };
  },
  judge({ control, denied, allowed, readAs }, verdict) {
    verdict.requireControl(control);
    verdict.should("AUTH-5", denied.status, oneOf(...allowed), { in: denied, at: "status" });
    if (denied.status === 401) verdict.should("AUTH-5", denied.reason, readAs, { in: denied, at: "reason" });
  },
});

const revokedKeyStaysRevoked = defineCheck({
  id: "auth.revoked",
  title: "A revoked key is denied as key_revoked on every endpoint and connection",
  covers: ["AUTH-4", ...denialRequirements("key_revoked")],
  explains:
    "Gateways with several instances often learn of a revocation at different times, so the revoked key is sent over many fresh connections and after valid traffic. It must always get 401 key_revoked and never be served.",
  needs: ["key.revoked"],
  dialect: dialectOfEndpoint,
  across: { case: ENDPOINTS },
  cost: { requests: 8 },
  async run(t) {
    const endpoint = endpointOf(t);
    const expected = expectedDenial(t, "key_revoked");
    const control = await t.control({ endpoint });
    const denied: Response[] = [await t.send({ endpoint, key: "revoked", intent: "denied" })];
    const fresh = Array.from({ length: 5 }, () =>
      t.send({ endpoint, key: "revoked", intent: "denied", freshConnection: true }),
    );
    denied.push(...(await Promise.all(fresh)));
    if (endpoint !== "models")
      denied.push(await t.send({ endpoint, key: "revoked", intent: "denied", mode: "streaming" }));
    return { control, denied, expected };
  },
  judge({ control, denied, expected }, verdict) {
    verdict.requireControl(control);
    for (const response of denied) {
      verdict.must("AUTH-4", response.status, expected.status, { in: response, at: "status" });
      verdict.must("AUTH-4", response.reason, expected.readAs, { in: response, at: "reason" });
      judgeDenial(verdict, response, expected);
    }
  },
});

const precedence = defineCheck({
  id: "auth.precedence",
  title: "Which denial takes precedence when several apply",
  covers: ["AUTH-8"],
  explains:
    "For an invented key with an unknown model, two denials are possible. Either is correct; the one sent is recorded.",
  across: { dialect: ["chat", "messages"] },
  cost: { requests: 1 },
  async run(t) {
    const invented = nonexistentKey(t).reveal();
    return { response: await t.send({ authorization: `Bearer ${invented}`, model: "unknown", intent: "denied" }) };
  },
  judge({ response }, verdict) {
    verdict.observe("AUTH-8", response.summary, { in: response });
  },
});

export const DENIED_KEYS: readonly Check[] = [
  missingKeyIsDenied,
  unknownKeyIsDenied,
  nearKeyIsDenied,
  malformedCredentialIsDenied,
  revokedKeyStaysRevoked,
  precedence,
];
