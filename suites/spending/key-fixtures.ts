import { type Check, defineCheck, defineInvariant, type Response, type Session } from "../../src/checks/index.ts";
import { toolsOf } from "../../src/dialects/index.ts";
import { notSuccess, success } from "../../src/judging/index.ts";
import { type DeniedKey, denial, denialOfKey } from "../../src/requirements/index.ts";
import { withoutStrays } from "../limits/denials.ts";
import { otherDialect } from "../shared/cases/other-dialect.ts";
import { servable } from "../shared/cases/servable.ts";
import { spellingsOf } from "../shared/cases/spellings.ts";
import { expectedDenial } from "../shared/judge/expected-denial.ts";
import { denialRequirements, judgeDenial } from "../shared/judge/judge-denial.ts";
import { isFundedKey } from "../shared/requests/good-keys.ts";
import { ONE_TOOL } from "../shared/requests/tools.ts";
import { isSpendingDenial, kindsOf } from "./drive.ts";

/** Every kind of traffic with a key that must be denied. */
async function everyKind(t: Session, key: "empty" | "emptySecond" | "capped" | "childExhausted"): Promise<Response[]> {
  const responses: Response[] = [];
  for (const kind of kindsOf(t)) {
    if (
      kind.endpoint === "messages" &&
      kind.mode === "streaming" &&
      !(await t.send({ ...kind, intent: "invalid" })).admitted
    )
      continue;
    responses.push(await t.send({ ...kind, key, intent: "denied", repeats: false }));
  }
  return responses;
}

const emptyAccount = defineCheck({
  id: "spending.empty-account",
  title: "An empty balance blocks every key of the account, every time",
  covers: ["SPEND-2", "SPEND-1", ...denialRequirements("insufficient_credits")],
  explains:
    "Sends every kind of traffic with each key of the account without balance, several times. Prepaid means that nothing more is served; neither a second key nor a repeated request may get past it.",
  needs: ["key.empty"],
  cost: { requests: 20 },
  async run(t) {
    const keys = ["empty", ...(t.target.keys.emptySecond === undefined ? [] : ["emptySecond"])] as const;
    const denied: Response[] = [];
    for (let round = 0; round < 2; round++)
      for (const key of keys) denied.push(...(await everyKind(t, key as "empty" | "emptySecond")));
    return { control: await t.control(), denied, expected: expectedDenial(t, "insufficient_credits") };
  },
  judge({ control, denied, expected }, verdict) {
    verdict.requireControl(control, "a request of another account");
    for (const response of denied) {
      verdict.must("SPEND-2", response.status, expected.status, {
        in: response,
        at: "status",
        because: response.exchange.key,
      });
      judgeDenial(verdict, response, expected);
    }
    verdict.observe("SPEND-1", "charging shows here only by the block at an empty balance");
  },
});

/** A key of the account before, between and after denials of the stopped one. */
async function sendOnSiblings(t: Session, stopped: "capped" | "childExhausted") {
  const expected = expectedDenial(t, denialOfKey(stopped).reason);
  const served: Response[] = [];
  const denied: Response[] = [];
  const others = ["valid", ...(t.target.keys.second === undefined ? [] : ["second"])] as ("valid" | "second")[];
  for (const kind of kindsOf(t).slice(0, 3)) {
    denied.push(await t.send({ ...kind, key: stopped, intent: "denied", repeats: false }));
    for (const key of others) served.push(await t.send({ ...kind, key }));
  }
  denied.push(await t.send({ mode: "non-streaming", key: stopped, intent: "denied", repeats: false }));
  return { served, denied, expected };
}

const cappedKeyIsolated = defineCheck({
  id: "spending.capped-key-isolated",
  title: "A capped key is denied, and no other key of its account",
  covers: ["SPEND-3", "SPEND-4", ...denialRequirements("quota_exceeded")],
  explains:
    "The key at its cap must be denied, other keys of the account served, and the capped key denied again: caps belong to keys.",
  needs: ["key.capped"],
  cost: { requests: 12 },
  run: (t) => sendOnSiblings(t, "capped"),
  judge({ served, denied, expected }, verdict) {
    for (const response of denied) judgeDenial(verdict, response, expected);
    for (const response of withoutStrays(served)) {
      const seen = { in: response, at: "status", because: response.exchange.key };
      verdict.must("SPEND-3", response.status, success, seen);
      verdict.must("SPEND-4", response.status, success, seen);
    }
  },
});

const exhaustedChildIsolated = defineCheck({
  id: "spending.child-isolated",
  title: "An exhausted child key is denied, and no other key of its account",
  covers: ["SPEND-9", ...denialRequirements("budget_exhausted")],
  explains:
    "The child key without budget must be denied, other keys of the account served, and the child denied again: budgets belong to child keys.",
  needs: ["key.childExhausted"],
  cost: { requests: 12 },
  run: (t) => sendOnSiblings(t, "childExhausted"),
  judge({ served, denied, expected }, verdict) {
    for (const response of denied) judgeDenial(verdict, response, expected);
    for (const response of withoutStrays(served))
      verdict.should("SPEND-9", response.status, success, {
        in: response,
        at: "status",
        because: response.exchange.key,
      });
  },
});

/** Maximum Retry-After wait, ms: the requirement says that waiting does not help, and a longer wait shows no more. */
const MAX_WAIT_MS = 10_000;

const lifetimeBudget = defineCheck({
  id: "spending.lifetime-budget",
  title: "A used-up lifetime budget is not restored",
  covers: ["SPEND-8", "ERR-429-BUDGET"],
  explains:
    "Sends many requests with the exhausted child key, on fresh connections, and after any Retry-After that it received (up to 10 s). It must stay denied: a lifetime budget is not a rate.",
  needs: ["key.childExhausted"],
  // Denials caused by other checks in the meantime would restart the Retry-After wait.
  schedule: { order: "exclusive" },
  cost: { requests: 10, waitS: 2 },
  async run(t) {
    const request = { key: "childExhausted", intent: "denied", repeats: false } as const;
    const first = await t.send(request);
    const waitMs = first.retryAfterWaitMs;
    await t.wait(Math.min(waitMs ?? 1_000, MAX_WAIT_MS) + 100, "the Retry-After of a denial");
    const later: Response[] = [];
    for (let round = 0; round < 8; round++)
      later.push(
        await t.send({
          ...request,
          freshConnection: round % 2 === 0,
          endpoint: round % 4 < 2 ? t.dialect : (otherDialect(t) ?? t.dialect),
        }),
      );
    return { first, later, expected: expectedDenial(t, "budget_exhausted"), waitMs: waitMs ?? null };
  },
  judge({ first, later, expected, waitMs }, verdict) {
    for (const response of [first, ...later]) {
      const why =
        response === first
          ? response.summary
          : `${waitMs === null ? "later" : `after the Retry-After of ${waitMs} ms, or 10 s of it`}: ${response.summary}`;
      verdict.must("SPEND-8", response.status, expected.status, { in: response, at: "status", because: why });
      verdict.must("ERR-429-BUDGET", response.reason, expected.readAs, { in: response, at: "reason", because: why });
    }
  },
});

/** Headers that gateways look at; none of them may unlock a blocked account. */
const extraHeaders = (t: Session): readonly (readonly [string, string])[] => [
  ["X-Request-Id", t.nonce()],
  ["X-End-User-Id", "someone"],
  ["X-Title", "gauntlet"],
  ["OpenAI-Organization", "org-gauntlet"],
  ["Anthropic-Beta", "tools-2024"],
];

const noBypass = defineCheck({
  id: "spending.no-bypass",
  title:
    "Optional headers and fields, other spellings of the key, tools and other models do not bypass a spending denial",
  covers: ["ERR-402-CREDITS", "ERR-402-QUOTA", "ERR-429-BUDGET"],
  explains:
    "Sends denied keys with headers and a user field that gateways are known to read, in other legal spellings and with an x-api-key header, with the usual parameters, with a tool, and with each model of the target file. None may be served.",
  across: { dialect: ["chat", "messages"], case: ["empty", "capped", "childExhausted"] },
  cost: { requests: 12 },
  async run(t) {
    const key = t.case as "empty" | "capped" | "childExhausted";
    const secret = t.target.keys[key];
    if (secret === undefined) return null;
    const request = { key, intent: "denied", repeats: false } as const;
    return {
      without: await t.send(request),
      withHeaders: await t.send({ ...request, headers: extraHeaders(t) }),
      withUser: await t.send({
        ...request,
        fields: t.dialect === "chat" ? { user: "someone" } : { metadata: { user_id: "someone" } },
      }),
      withParameters: await t.send({ ...request, fields: { max_tokens: 64, temperature: 0.5 } }),
      withTools: await t.send({ ...request, fields: { tools: toolsOf(t.dialect, ONE_TOOL) } }),
      spelled: await Promise.all(
        Object.entries(spellingsOf(secret)).map(async ([spelling, spelled]) => ({
          spelling,
          response: await t.send({ ...request, ...spelled }),
        })),
      ),
      // The models of the target file, all of which cost money.
      withModels: await Promise.all(
        (await servable(t, [{ model: "stream" }, { model: "slow" }, { model: "tools" }])).map((own) =>
          t.send({ ...request, ...own }),
        ),
      ),
    };
  },
  judge(recording, verdict, { case: key }) {
    if (recording === null) return verdict.notApplicable(`the target has no key ${key}`);
    const { without, withHeaders, withUser, withParameters, withTools, withModels, spelled = [] } = recording;
    verdict.assume(isSpendingDenial(without), `the key ${key} is denied without them`);
    const { requirement } = denial(denialOfKey(key as DeniedKey).reason);
    for (const response of [without, withHeaders, withUser, withParameters, withTools, ...withModels]) {
      if ((response.status ?? 500) >= 500)
        verdict.markUndecided(
          "inconclusive",
          `one of these requests was neither served nor denied: ${response.summary}`,
        );
      else verdict.must(requirement, response.status, notSuccess, { in: response, at: "status" });
    }
    for (const { spelling, response } of spelled) {
      const seen = { in: response, at: "status", because: `with ${spelling}` };
      if ((response.status ?? 500) < 500) verdict.must(requirement, response.status, notSuccess, seen);
    }
  },
});

const listAllowed = defineCheck({
  id: "spending.list-allowed",
  title: "A key that may not spend may still list the models",
  covers: ["AUTH-1", "SPEND-13"],
  explains:
    "Exhausted balances, caps and budgets block paid requests. Listing is not one: callers need it to see what is available. Keys with a balance, cap or budget list the models before and after it is used up. A denial for an empty balance is a warning; whether a key at its cap or budget may list is recorded.",
  across: { case: ["empty", "capped", "childExhausted", "childSmall", "cappable"] },
  cost: { requests: 1 },
  async run(t) {
    const key = t.case as "empty" | "capped" | "childExhausted" | "childSmall" | "cappable";
    return {
      list: t.target.keys[key] === undefined ? null : await t.send({ endpoint: "models", key, intent: "any" }),
      stopped: expectedDenial(t, key.startsWith("child") ? "budget_exhausted" : "quota_exceeded"),
    };
  },
  judge({ list, stopped }, verdict, { case: key }) {
    if (list === null) return verdict.notApplicable(`the target has no key ${key}`);
    const seen = { in: list, at: "status" };
    // Only the balance is required to stop just paid requests; a cap or a budget may stop the key altogether, by its own
    // requirement.
    if (key !== "empty" && list.status === stopped.status) return verdict.observe("AUTH-1", list.summary, { in: list });
    // Listing models is free, so a spending denial does not apply to it.
    const isDenied = isSpendingDenial(list) && list.status !== 401;
    if (isDenied || success.test(list.status)) verdict.should("SPEND-13", list.status, success, seen);
    if (!isDenied) verdict.must("AUTH-1", list.status, success, seen);
  },
});

const noFalseDenial = defineInvariant({
  id: "spending.no-false-denial",
  title: "No funded key is denied for spending",
  covers: ["SPEND-13"],
  explains:
    "Checks every request of the run with a key that has ample balance and no cap: none may be denied for spending. A warning means that tallies drift, or that the caller is denied because another account lacks funds.",
  judge(responses, verdict) {
    const own = responses.filter(({ exchange, status }) => isFundedKey(exchange.key) && status !== undefined);
    if (own.length === 0) return verdict.inconclusive("no request with a funded key got a response");
    const denied = own.filter(
      ({ status, reason }) =>
        status === 402 ||
        reason === "budget_exhausted" ||
        reason === "quota_exceeded" ||
        reason === "insufficient_credits",
    );
    verdict.should("SPEND-13", denied.length, 0, {
      in: denied[0],
      because: `requests (of ${own.length}) with funded keys that were denied for spending${denied[0] === undefined ? "" : ` (the first: ${denied[0].summary})`}`,
    });
  },
});

export const KEY_FIXTURES: readonly Check[] = [
  emptyAccount,
  cappedKeyIsolated,
  exhaustedChildIsolated,
  lifetimeBudget,
  noBypass,
  listAllowed,
  noFalseDenial,
];
