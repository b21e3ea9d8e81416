import {
  type Check,
  callerError,
  defineCheck,
  type RequestSpec,
  type Response,
  type Session,
  serverError,
  success,
  that,
} from "../src/checks/index.ts";
import { DIALECTS, type Dialect } from "../src/dialects/index.ts";
import { denial, type Reason } from "../src/requirements/index.ts";
import { expectedDenial } from "./shared/expected-denial.ts";
import { fabricatedKey } from "./shared/fabricated-key.ts";
import { inTurns, LONG_TEXT } from "./shared/texts.ts";

/** Callers that must be denied whatever they send, and the reason. */
const CALLERS = {
  missing: "invalid_api_key",
  unknown: "invalid_api_key",
  revoked: "key_revoked",
  empty: "insufficient_credits",
  capped: "quota_exceeded",
  childExhausted: "budget_exhausted",
} as const satisfies Readonly<Record<string, Reason>>;
type Caller = keyof typeof CALLERS;

/** The answer to a body of unknown length that is a fair one (RFC 9110, 15.5.12). */
const NO_LENGTH = 411;
/** Reasons that have to do with what else the account is doing. */
const BUSY: readonly string[] = ["rate_limit_exceeded", "concurrency_limit_exceeded"];
/** Requests at the same moment. */
const AT_ONCE = 6;

/** Ways to ask that leave no other reason for a denial. */
const WAYS: Readonly<Record<string, RequestSpec>> = {
  "in-chunks": { form: "in-chunks" },
  "with-spaces": { form: "with-spaces" },
  conversation: { prompt: inTurns(LONG_TEXT) },
  "events-accepted": { mode: "streaming", headers: [["Accept", "text/event-stream"]] },
};

/** What would be denied for a reason of its own, too: which one wins is open. */
const TWICE_WRONG: Readonly<Record<string, RequestSpec>> = {
  "unknown-model": { model: "unknown" },
  "bad-body": { rawBody: '{"messages": [' },
};

/** Who gets no list either, and by which requirement. The others may not spend, and may list. */
const NO_LIST = { missing: "MODELS-5", unknown: "MODELS-5", revoked: "AUTH-4" } as const;
type Listless = keyof typeof NO_LIST;

/** Ways to ask for the list that change nothing about who asks. */
const LIST_WAYS: readonly RequestSpec[] = [
  { query: "?limit=1" },
  { headers: [["Accept", "text/html"]] },
  { headers: [["Accept-Encoding", "gzip, br"]] },
  { freshConnection: true },
];

const noListAnyhow = defineCheck({
  id: "models.denied-in-every-form",
  title: "Who must be denied gets no list however it is asked for",
  covers: ["MODELS-5", "AUTH-4"],
  explains:
    "The list is asked for without a key, with an unknown and with a revoked one: with a query, for a client that accepts web pages or compression, on a new connection, and several times at the same moment. It may not be given once.",
  across: { case: Object.keys(NO_LIST) },
  cost: { requests: LIST_WAYS.length + AT_ONCE + 1 },
  async run(t) {
    const who = credentialsOf(t, t.case as Caller);
    if (who === null) return null;
    const request: RequestSpec = { ...who, endpoint: "models", intent: "denied", repeats: false };
    const plain = await t.send(request);
    const single: Response[] = [];
    for (const way of LIST_WAYS) single.push(await t.send({ ...request, ...way }));
    const together = await Promise.all(Array.from({ length: AT_ONCE }, () => t.start(request).done));
    return { plain, answers: [...single, ...together] };
  },
  judge(recording, verdict, { case: caller }) {
    if (recording === null) return verdict.notApplicable(`the target has no key ${caller}`);
    const { plain, answers } = recording;
    verdict.assume((plain.status ?? 0) >= 400, `a plain request for the list of ${caller} is denied`);
    // A page for people in place of the list gives nothing away.
    for (const answer of answers)
      verdict.must(NO_LIST[caller as Listless], success.test(answer.status) && answer.json !== undefined, false, {
        in: answer,
        because: `the list is given: ${answer.summary}`,
      });
  },
});

const deniedAnyhow = defineCheck({
  id: "errors.denied-in-every-form",
  title: "Who must be denied is denied however the request is written",
  covers: [
    "ERR-401-INVALID",
    "ERR-401-REVOKED",
    "ERR-402-CREDITS",
    "ERR-402-QUOTA",
    "ERR-429-BUDGET",
    "ERR-BODY-2",
    "BAD-BODY",
  ],
  explains:
    "Requests without a key, with an unknown and a revoked one, and with keys that may not spend: in chunks, with white space, as a conversation, for a client that accepts event streams, several at the same moment, after Expect: 100-continue, with an unknown model, and with a body that cannot be read. None may be served; where nothing else is wrong with them, status and reason are those of the requirement; and none is a server error.",
  across: { case: Object.keys(CALLERS) },
  cost: { requests: 20 },
  async run(t) {
    const caller = t.case as Caller;
    const who = credentialsOf(t, caller);
    if (who === null) return null;
    const request: RequestSpec = { ...who, intent: "denied", repeats: false };
    const both = async (way: RequestSpec) => {
      const answers: Response[] = [];
      for (const endpoint of DIALECTS) {
        // A stream may be refused on /messages before anything else is looked at.
        if (endpoint === "chat" || way.mode !== "streaming")
          answers.push(await t.send({ ...request, ...way, endpoint }));
      }
      return answers;
    };
    const single: Response[] = [];
    for (const way of Object.values(WAYS)) single.push(...(await both(way)));
    const dialectOf = (index: number): Dialect => (index % 2 === 0 ? "chat" : "messages");
    const together = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) => t.start({ ...request, endpoint: dialectOf(index) }).done),
    );
    const twice: Response[] = [];
    for (const way of Object.values(TWICE_WRONG)) twice.push(...(await both(way)));
    const { status } = await t.expectContinue({ ...who, endpoint: "chat" });
    return {
      plain: await both({}),
      single,
      together,
      twice,
      afterExpect: status ?? null,
      expected: expectedDenial(t, CALLERS[caller]),
    };
  },
  judge(recording, verdict, { case: caller }) {
    if (recording === null) return verdict.notApplicable(`the target has no key ${caller}`);
    const { plain, single, together, twice, afterExpect, expected } = recording;
    verdict.assume(
      plain.every(({ status }) => status === expected.status),
      `a plain request of ${caller} is denied`,
    );
    const { requirement } = denial(expected.reason);
    for (const answer of [...single, ...together]) {
      const seen = { in: answer, because: answer.summary };
      // Whoever takes no body without its length says so before anything else; so does one whose account is busy.
      if (answer.status === NO_LENGTH || BUSY.includes(answer.reason ?? "")) continue;
      if (!verdict.must(requirement, answer.status, expected.status, { ...seen, at: "status" })) continue;
      verdict.must(requirement, answer.reason, expected.word, { ...seen, at: "reason" });
      if (answer.asked.endpoint === "chat" && plain[0]?.json !== undefined)
        verdict.should("ERR-BODY-2", answer.json !== undefined, true, {
          ...seen,
          because: "the denial has a JSON body",
        });
    }
    const notServed = that("no reply", (status) => !success.test(status));
    for (const answer of twice) {
      const seen = { in: answer, at: "status", because: answer.summary };
      if (!verdict.must(requirement, answer.status, notServed, seen)) continue;
      verdict.should("BAD-BODY", serverError.test(answer.status), false, seen);
    }
    verdict.must(requirement, afterExpect, notServed, { at: "status", because: "after Expect: 100-continue" });
  },
});

/** @returns `null` where the target has no such key. */
function credentialsOf(t: Session, caller: Caller): Pick<RequestSpec, "key" | "authorization"> | null {
  if (caller === "missing") return { key: null };
  if (caller === "unknown")
    return { authorization: `Bearer ${fabricatedKey(t.target.keys.valid.reveal(), () => t.random())}` };
  return t.target.keys[caller] === undefined ? null : { key: caller };
}

/** Ids that no gateway has, in the forms that ids have. */
const NO_MODELS = (nonce: string): readonly string[] => [nonce, `gauntlet/${nonce}`, `${nonce}:latest`, `${nonce}-1.5`];
/** A form that ids do not have: a gateway may call it malformed. */
const NO_ID = (nonce: string): string => `modèle-${nonce}-模型`;

const noSuchModel = defineCheck({
  id: "errors.no-such-model",
  title: "A model that does not exist is denied as model_not_found whatever its id looks like",
  covers: ["ERR-404-MODEL"],
  explains:
    "Ids that nobody has, without a provider and with one, with a tag and with a version, and beyond ASCII, in both dialects. Each must come back as 404 model_not_found, as the target's own unknown model does; the last may be refused as malformed.",
  across: { dialect: DIALECTS },
  cost: { requests: 6 },
  async run(t) {
    const request: RequestSpec = { intent: "denied" };
    const answers: Response[] = [];
    for (const id of NO_MODELS(t.nonce())) answers.push(await t.send({ ...request, model: { id } }));
    return {
      beyondAscii: await t.send({ ...request, model: { id: NO_ID(t.nonce()) } }),
      plain: await t.send({ ...request, model: "unknown" }),
      answers,
      expected: expectedDenial(t, "model_not_found"),
    };
  },
  judge({ plain, answers, beyondAscii, expected }, verdict) {
    verdict.assume(plain.status === expected.status, "the unknown model of the target is denied");
    for (const answer of answers) {
      const seen = { in: answer, because: answer.summary };
      verdict.must("ERR-404-MODEL", answer.status, expected.status, { ...seen, at: "status" });
      verdict.must("ERR-404-MODEL", answer.reason, expected.word, { ...seen, at: "reason" });
    }
    const refused = that(`${expected.status}, or another refusal`, (status) => callerError.test(status));
    const seen = { in: beyondAscii, at: "status", because: `an id beyond ASCII: ${beyondAscii.summary}` };
    verdict.must("ERR-404-MODEL", beyondAscii.status, refused, seen);
  },
});

export const DENIED_ANYHOW: readonly Check[] = [deniedAnyhow, noListAnyhow, noSuchModel];
