import {
  type Check,
  defineCheck,
  defineInvariant,
  type Need,
  type RequestSpec,
  type Response,
} from "../src/checks/index.ts";
import { member } from "../src/core/index.ts";
import { DIALECTS, type Dialect, MODES, parseJson } from "../src/dialects/index.ts";
import { absent, oneOf, serverError, success, that, type Verdict } from "../src/judging/index.ts";
import { DENIALS, type Reason } from "../src/requirements/index.ts";
import { askPastRate } from "./shared/ask-past-rate.ts";
import { assumeControl, sendControl } from "./shared/control-request.ts";
import { expectedDenial } from "./shared/expected-denial.ts";
import { denialRequirements, judgeDenial } from "./shared/judge-denial.ts";
import { inTurns, LONG_STORY, LONG_TEXT } from "./shared/texts.ts";

interface DenialCase {
  readonly id: `errors.${string}`;
  readonly reason: Reason;
  readonly title: string;
  /** The one thing that is wrong about the good request. */
  readonly wrong: RequestSpec;
  readonly needs: readonly Need[];
  readonly advice: string;
}

/** The denials that a single request can meet. A new one is one entry. */
const CASES: readonly DenialCase[] = [
  {
    id: "errors.key-revoked",
    reason: "key_revoked",
    title: "A revoked key is denied as key_revoked",
    wrong: { key: "revoked" },
    needs: ["key.revoked"],
    advice: "Revocation must be told apart from an unknown key, so that the caller knows to replace it.",
  },
  {
    id: "errors.insufficient-credits",
    reason: "insufficient_credits",
    title: "An account without balance is denied as insufficient_credits",
    wrong: { key: "empty" },
    needs: ["key.empty"],
    advice: "An empty balance is 402 insufficient_credits, not a rate limit and not a permission problem.",
  },
  {
    id: "errors.quota-exceeded",
    reason: "quota_exceeded",
    title: "A key at its daily cap is denied as quota_exceeded",
    wrong: { key: "capped" },
    needs: ["key.capped"],
    advice: "The daily cap of a key is 402 quota_exceeded, whatever traffic reached it.",
  },
  {
    id: "errors.model-not-found",
    reason: "model_not_found",
    title: "A model that is not enabled is denied as model_not_found",
    wrong: { model: "unknown" },
    needs: [],
    advice: "An unknown model is 404 model_not_found; it is never served by another model.",
  },
  {
    id: "errors.budget-exhausted",
    reason: "budget_exhausted",
    title: "A child key without budget is denied as budget_exhausted",
    wrong: { key: "childExhausted" },
    needs: ["key.childExhausted"],
    advice: "A used-up lifetime budget is 429 budget_exhausted: neither 402 nor one of the temporary 429 reasons.",
  },
];

/** Requests that are as good as the plainest one, and that a denial must not depend on. */
const CIRCUMSTANCES: readonly ((dialect: Dialect) => RequestSpec)[] = [
  () => ({}),
  () => ({ freshConnection: true }),
  () => ({
    prompt: inTurns("three"),
  }),
  (dialect) => (dialect === "messages" ? { maxTokens: 1, system: "Be brief.", prompt: "hi" } : { prompt: "hi" }),
  () => ({ prompt: LONG_TEXT }),
];

const denialChecks = CASES.map((entry) =>
  defineCheck({
    id: entry.id,
    title: entry.title,
    covers: denialRequirements(entry.reason),
    explains: `${entry.advice} A good request is sent, then the same with this one thing wrong: on a connection in use and a fresh one, in a conversation, with a short and with a long text, and where the key may be any with the account's other one. Status and reason header are demands in both dialects, streaming and non-streaming; the body's shape is one in the chat dialect only.`,
    needs: entry.needs,
    across: { dialect: DIALECTS, mode: MODES },
    cost: { requests: 6 },
    async run(t) {
      const control = await sendControl(t);
      const denied: Response[] = [];
      for (const circumstance of CIRCUMSTANCES) {
        denied.push(
          await t.send({
            ...circumstance(t.dialect),
            ...entry.wrong,
            intent: "denied",
            repeats: entry.reason !== "budget_exhausted",
          }),
        );
      }
      const { second } = t.target.keys;
      if (second !== undefined && !("key" in entry.wrong))
        denied.push(await t.send({ key: second, ...entry.wrong, intent: "denied" }));
      return { control, denied, expected: expectedDenial(t, entry.reason) };
    },
    judge({ control, denied, expected }, verdict) {
      assumeControl(verdict, control);
      for (const answer of denied) judgeDenial(verdict, answer, expected);
    },
  }),
);

const NAMED: readonly string[] = DENIALS.map(({ reason }) => reason);

const notACallersReason = that("no reason that blames the caller", (value) => !NAMED.includes(String(value)));

const upstreamFailure = defineCheck({
  id: "errors.upstream-failure",
  title: "A provider's failure is a 5xx",
  covers: ["ERR-5XX-1", "ERR-5XX-2"],
  explains:
    "Calls a model whose provider fails. The gateway could not complete the request, so the status is 5xx: not an empty success, not a denial that blames the caller, not a dropped connection. Which 5xx, and its body, are noted only.",
  needs: ["model.upstreamError"],
  across: { dialect: DIALECTS, mode: MODES },
  cost: { requests: 4 },
  async run(t) {
    const control = await sendControl(t);
    const failed: Response[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      failed.push(await askPastRate(t, { model: "upstreamError", intent: "denied" }));
    }
    return { control, failed };
  },
  judge({ control, failed }, verdict) {
    assumeControl(verdict, control);
    for (const answer of failed) judgeUpstream(answer, verdict);
  },
});

const cutReply = defineCheck({
  id: "errors.upstream-cut",
  title: "Half a reply of a provider is not passed on as a whole one",
  covers: ["ERR-5XX-1"],
  explains:
    "The model whose provider breaks off is called streaming and non-streaming. Where the stream broke off, the non-streaming form must not be a success with just the text that came before the break: the gateway could not complete the request.",
  needs: ["model.cutStream"],
  across: { dialect: DIALECTS },
  cost: { requests: 4 },
  async run(t) {
    const request: RequestSpec = { model: "cutStream", prompt: LONG_STORY, intent: "odd" };
    const cut = await askPastRate(t, { ...request, mode: "streaming", bounds: { idleMs: 12_000 } });
    return {
      cut,
      wholes: [
        await askPastRate(t, { ...request, mode: "non-streaming" }),
        await askPastRate(t, { ...request, mode: "non-streaming" }),
      ],
    };
  },
  judge({ cut, wholes }, verdict) {
    const broke = cut.stream.errors.length > 0 || !cut.complete;
    const before = cut.stream.text ?? "";
    if (!broke || before === "")
      return verdict.notApplicable(`the stream did not break off after some text (${cut.summary})`);
    for (const whole of wholes) {
      const half = success.test(whole.status) && whole.replyText === before;
      verdict.must("ERR-5XX-1", half, false, {
        in: whole,
        because: `the non-streaming form ends where the stream broke off: ${whole.summary}`,
      });
    }
  },
});

const upstreamTimeout = defineCheck({
  id: "errors.upstream-timeout",
  title: "A provider that does not answer in time is a 5xx",
  covers: ["ERR-5XX-1", "ERR-5XX-2"],
  explains:
    "Calls a model whose provider does not answer. The gateway has to give up by itself and say so with a 5xx. No answer within the harness's own bound (timeouts.answerS) is a warning: the specification names no time.",
  needs: ["model.upstreamTimeout"],
  across: { dialect: DIALECTS, mode: MODES },
  cost: { requests: 2, waitS: 2 },
  async run(t) {
    const control = await sendControl(t);
    const bounds = { deadlineMs: t.target.timeouts.answerMs, idleMs: t.target.timeouts.answerMs };
    return { control, failed: await askPastRate(t, { model: "upstreamTimeout", intent: "denied", bounds }) };
  },
  judge({ control, failed }, verdict) {
    assumeControl(verdict, control);
    if (failed.exchange.ending.kind === "deadline" && failed.status === undefined) {
      verdict.should("ERR-5XX-1", failed.summary, serverError, {
        in: failed,
        at: "status",
        because: `the gateway had not given up after ${Math.round(failed.durationMs / 1_000)} s`,
      });
      return;
    }
    judgeUpstream(failed, verdict);
  },
});

function judgeUpstream(answer: Response, verdict: Verdict): void {
  verdict.must("ERR-5XX-1", answer.status, serverError, { in: answer, at: "status", because: answer.summary });
  verdict.must("ERR-5XX-1", answer.reason, notACallersReason, { in: answer, at: "reason", because: answer.summary });
  const { envelope, type, code } = answer.error;
  verdict.observe("ERR-5XX-2", { status: answer.status, reason: answer.reason, envelope, type, code }, { in: answer });
}

const successIsAReply = defineInvariant({
  id: "errors.success-is-a-reply",
  title: "A 2xx holds a reply and no error",
  covers: ["ERR-200-1"],
  explains:
    "Looks at every inference answer of the run with a 2xx. A non-streaming reply must be JSON with the fields of its dialect; nowhere may an error object stand in place of the reply, also not as the only item of a stream. Status alone must tell success from failure.",
  judge(answers, verdict) {
    const replies = answers.filter((answer) => {
      const { status = 0, asked, complete } = answer;
      return asked.endpoint !== "models" && asked.intent === "good" && complete && status >= 200 && status < 300;
    });
    if (replies.length === 0) return verdict.inconclusive("no inference request was served");
    for (const answer of replies) judgeSuccess(answer, verdict);
  },
});

function judgeSuccess(answer: Response, verdict: Verdict): void {
  const seen = { in: answer, because: answer.summary };
  if (answer.streamed) {
    const [error] = answer.stream.outputs === 0 ? answer.stream.errors : [];
    verdict.must("ERR-200-1", error, absent, { ...seen, because: "an error in place of the streamed reply" });
    return;
  }
  if (answer.asked.mode === "streaming" && answer.stream.framing === "empty") return;
  if (!verdict.must("ERR-200-1", answer.json !== undefined, true, { ...seen, because: "the body is not JSON" })) return;
  verdict.must("ERR-200-1", answer.reply.error, absent, { ...seen, at: "/error" });
  const place = answer.asked.endpoint === "messages" ? "content" : "choices";
  verdict.must("ERR-200-1", answer.reply.parts !== undefined, true, {
    ...seen,
    because: `no list "${place}" in the reply`,
  });
}

const everyDenialIsNamed = defineInvariant({
  id: "errors.denials-are-named",
  title: "Every 401, 402 and 429 of the run names a reason that belongs to its status",
  covers: ["ERR-HDR-1"],
  explains:
    "Whichever check provoked it: an answer with 401, 402 or 429, for a model that serves others, is a denial of the gateway and must carry one of the reasons that the table has for that status.",
  judge(answers, verdict) {
    // A model that never served anything may have a provider that denies; whose denial it is cannot be told then.
    const serving = new Set(answers.filter(({ admitted }) => admitted).map(modelOf));
    const denials = answers.filter(
      (answer) =>
        (answer.status === 401 || answer.status === 402 || answer.status === 429) &&
        (answer.asked.endpoint === "models" || answer.reason !== undefined || serving.has(modelOf(answer))),
    );
    if (denials.length === 0) return verdict.inconclusive("nothing was denied");
    for (const answer of denials) {
      const allowed = DENIALS.filter((requirement) => requirement.status === answer.status).map(({ reason }) => reason);
      verdict.must("ERR-HDR-1", answer.reason, oneOf(...allowed), {
        in: answer,
        at: "reason",
        because: answer.summary,
      });
    }
  },
});

/** The model that was asked for, as the request says it. */
function modelOf({ exchange }: Response): unknown {
  return member(parseJson(exchange.request.body ?? ""), "model");
}

const modelIsNotListed = defineCheck({
  id: "errors.unknown-model-unlisted",
  title: "A model id that is denied as unknown is not in the list",
  covers: ["ERR-404-1"],
  explains:
    "The advice for model_not_found is to check the id against GET /models; an id that is listed and yet unknown leads callers in circles.",
  cost: { requests: 2 },
  async run(t) {
    return {
      list: await t.send({ endpoint: "models" }),
      denied: await t.send({ model: "unknown", intent: "denied" }),
      unknown: t.target.models.chat.unknown ?? "",
    };
  },
  judge({ list, denied, unknown }, verdict) {
    verdict.assumeGood(list, "the model list");
    if (denied.status !== 404)
      return verdict.notApplicable("the invented model was not denied; see errors.model-not-found");
    verdict.should("ERR-404-1", list.text.includes(JSON.stringify(unknown)), false, {
      in: list,
      because: "the unknown id is listed",
    });
  },
});

export const ERRORS: readonly Check[] = [
  ...denialChecks,
  modelIsNotListed,
  upstreamFailure,
  cutReply,
  upstreamTimeout,
  successIsAReply,
  everyDenialIsNamed,
];
