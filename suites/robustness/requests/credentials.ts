import { type Check, defineCheck, type RequestSpec, type Response } from "../../../src/checks/index.ts";
import { DIALECTS } from "../../../src/dialects/index.ts";
import { aReply, notSuccess, type Verdict } from "../../../src/judging/index.ts";

/** Places in which a key must not be accepted. */
const PLACES: Readonly<Record<string, (key: string) => RequestSpec>> = {
  "query-api_key": (key) => ({ query: `?api_key=${encodeURIComponent(key)}` }),
  "query-key": (key) => ({ query: `?key=${encodeURIComponent(key)}` }),
  "query-access_token": (key) => ({ query: `?access_token=${encodeURIComponent(key)}` }),
  "query-token": (key) => ({ query: `?token=${encodeURIComponent(key)}` }),
  cookie: (key) => ({ headers: [["Cookie", `api_key=${key}; token=${key}; Authorization=Bearer ${key}`]] }),
  body: (key) => ({ fields: { api_key: key, access_token: key, key } }),
};

/** Judges a request with the key in the wrong place. @param bare the same without any key. */
function judgePlace(bare: Response, response: Response, verdict: Verdict): void {
  // If no key is needed, the request was not accepted because of a key in the wrong place.
  if (bare.admitted) verdict.notApplicable("a request without any key is served too; see auth.missing-key");
  const seen = { in: response, at: "status" };
  verdict.should("BEARER-PLACE", response.status, notSuccess, seen);
}

const keyPlace = defineCheck({
  id: "robustness.key-place",
  title: "A key is accepted where a bearer key belongs and nowhere else",
  covers: ["BEARER-PLACE"],
  explains:
    "Sends the valid key in the URL, a cookie or the body, without an Authorization header. URLs and bodies end up in logs and histories, so a request that is served with such a key is a warning.",
  across: { dialect: [...DIALECTS], case: Object.keys(PLACES) },
  cost: { requests: 2 },
  async run(t) {
    const place = PLACES[t.case]?.(t.target.keys.valid.reveal()) ?? {};
    return {
      control: await t.control(),
      bare: await t.scenarios.once(`robustness.keyless ${t.dialect}`, () => t.send({ key: null, intent: "invalid" })),
      response: await t.send({ key: null, intent: "invalid", ...place }),
    };
  },
  judge({ control, bare, response }, verdict) {
    verdict.requireControl(control);
    judgePlace(bare, response, verdict);
  },
});

const listKeyPlace = defineCheck({
  id: "robustness.key-place-list",
  title: "The model list does not accept a key from the URL or a cookie",
  covers: ["BEARER-PLACE"],
  explains:
    "Sends the valid key in the URL or a cookie of GET /models, without an Authorization header. A list that is served with such a key is a warning.",
  across: { case: Object.keys(PLACES).filter((place) => place !== "body") },
  cost: { requests: 2 },
  async run(t) {
    const place = PLACES[t.case]?.(t.target.keys.valid.reveal()) ?? {};
    return {
      control: await t.control({ endpoint: "models" }),
      bare: await t.scenarios.once("robustness.keyless models", () =>
        t.send({ endpoint: "models", key: null, intent: "invalid" }),
      ),
      response: await t.send({ endpoint: "models", key: null, intent: "invalid", ...place }),
    };
  },
  judge({ control, bare, response }, verdict) {
    verdict.requireControl(control, "the list with its key");
    judgePlace(bare, response, verdict);
  },
});

const schemeCase = defineCheck({
  id: "robustness.scheme-case",
  title: "The scheme name is matched case-insensitively",
  covers: ["BEARER-SCHEME"],
  explains: "`bearer`, `Bearer` and `BEARER` are the same scheme in HTTP, and clients send all three. Each must work.",
  across: { dialect: [...DIALECTS], case: ["bearer", "BEARER"] },
  cost: { requests: 2 },
  async run(t) {
    const key = t.target.keys.valid.reveal();
    return {
      control: await t.control(),
      response: await t.send({ authorization: `${t.case} ${key}`, intent: "invalid" }),
    };
  },
  judge({ control, response }, verdict) {
    verdict.requireControl(control);
    verdict.should("BEARER-SCHEME", response.admitted, aReply, { in: response });
  },
});

export const CREDENTIALS: readonly Check[] = [keyPlace, listKeyPlace, schemeCase];
