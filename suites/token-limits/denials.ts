import { type Check, defineCheck, type Response } from "../../src/checks/index.ts";
import { isTrue, that, type Verdict } from "../../src/judging/index.ts";
import { type StatedRemaining, surelySpent, wrongRemaining } from "../../src/limits/index.ts";
import { isRateDenial, isRefused, isServed } from "../limits/denials.ts";
import { largestOf, type Part, spendsOf, type TokensAsDeclared } from "./part.ts";
import { tokenScenario } from "./scenario.ts";

const denial = defineCheck({
  id: "token-limits.denial",
  scenario: tokenScenario,
  title: "A token denial is a 429 rate_limit_exceeded",
  covers: ["TOKENS-DENIAL"],
  explains:
    "Checks every denial of the scenario, in both dialects, streaming and non-streaming: its status must be 429 and its reason rate_limit_exceeded, or what the target's contract says for the request rate. Clients then wait for Retry-After; with another status or reason they stop trying.",
  judge({ expected, atOnce, whileDenied, inARow }, verdict) {
    const tried = whileDenied.flatMap(({ before, tries, after }) => [before, ...tries.filter(isRateDenial), after]);
    const sent = [...atOnce, ...inARow].flatMap(({ responses }) => responses);
    const denials = [...new Set([...sent, ...tried])].filter((response) => isRefused(response) && !isFailure(response));
    if (denials.length === 0)
      return verdict.inconclusive("nothing was denied by its token limit; see token-limits.enforced");
    for (const response of denials) {
      const seen = { in: response };
      if (verdict.must("TOKENS-DENIAL", response.status, expected.status, { ...seen, at: "status" }))
        verdict.must("TOKENS-DENIAL", response.reason, expected.readAs, { ...seen, at: "reason" });
    }
  },
});

/** The gateway or a provider failed: this is not a denial. */
const isFailure = ({ status = 0 }: Response): boolean => status >= 500;

const retryAfter = defineCheck({
  id: "token-limits.retry-after",
  scenario: tokenScenario,
  basis: "timing",
  title: "The Retry-After wait of a token denial is sufficient",
  covers: ["TOKENS-RETRY-AFTER"],
  explains:
    "After a denial, sends nothing on the account for as long as Retry-After says, then a request of the same size, which should be admitted. A warning means that Retry-After is unusable or too short: often it is the wait of the request rate.",
  judge({ wait }, verdict) {
    if (wait === null)
      return verdict.inconclusive("the account was not denied by its token limit when the wait was to be tested");
    const { denial: denied, waitMs, retried } = wait;
    const stated = denied.header("retry-after");
    const usable = that("a usable wait of about a minute at most", () => waitMs !== null);
    if (!verdict.should("TOKENS-RETRY-AFTER", stated, usable, { in: denied, at: "Retry-After" })) return;
    verdict.should("TOKENS-RETRY-AFTER", isRateDenial(retried), false, {
      in: retried,
      because: `after the stated wait of ${waitMs} ms: ${retried.summary}`,
    });
  },
});

const remaining = defineCheck({
  id: "token-limits.remaining",
  scenario: tokenScenario,
  basis: "timing",
  title: "The gateway admits the number of remaining tokens that responses state",
  covers: ["TOKENS-REMAINING"],
  explains:
    "If the target file names headers for it (tokenLimits.remainingHeaders), each response to the sequential requests must state a whole number. Later requests may take that many tokens, plus one request; and no request that needs far fewer may be denied. Otherwise clients that pace themselves by the header stop too early, or hit the limit.",
  judge({ tokens, inARow }, verdict) {
    if (tokens.remainingHeaders.length === 0)
      return verdict.notApplicable("the target names no header of the remaining tokens (tokenLimits.remainingHeaders)");
    const part = inARow.at(-1);
    if (part === undefined) return verdict.inconclusive("no requests were sent in a row");
    const stating = part.responses.filter((response) => statedBy(response, tokens) !== undefined);
    verdict.should("TOKENS-REMAINING", stating.length > 0, isTrue("at least one"), {
      in: part.responses[0],
      because: `responses with ${tokens.remainingHeaders.join(" or ")}`,
    });
    for (const response of stating) judgeRemaining(response, part, tokens, verdict);
  },
});

/** The first of the declared headers that a response has. */
function statedBy(response: Response, { remainingHeaders }: TokensAsDeclared) {
  const name = remainingHeaders.find((header) => response.header(header) !== undefined);
  return name === undefined ? undefined : { name, value: response.header(name)?.trim() ?? "" };
}

/** Some report less than zero after a request that crossed the limit. */
const wholeNumber = that("a whole number", (value) => /^-?\d+$/.test(String(value)));

function judgeRemaining(response: Response, part: Part, tokens: TokensAsDeclared, verdict: Verdict): void {
  const stated = statedBy(response, tokens);
  if (stated === undefined) return;
  const seen = { in: response, at: stated.name };
  if (!verdict.should("TOKENS-REMAINING", stated.value, wholeNumber, seen)) return;
  const observed = observedAfter(response, Number(stated.value), part, tokens);
  const one = largestOf(part, tokens);
  const wrong = wrongRemaining(observed, { tokensPerMinute: tokens.tokensPerMinute, one });
  verdict.should("TOKENS-REMAINING", wrong ?? "right", "right", {
    ...seen,
    because: `stated ${stated.value}; then ${observed.spentAfter} tokens were admitted${observed.deniedNext === undefined ? "" : `, and a request of ${observed.deniedNext} was denied next`}`,
  });
}

/** What followed a response in a series that ends with the first denial. */
function observedAfter(response: Response, stated: number, part: Part, tokens: TokensAsDeclared): StatedRemaining {
  const at = part.responses.indexOf(response);
  const after = part.responses.slice(at + 1).filter(isServed);
  const next = isServed(response) ? part.responses[at + 1] : response;
  const endUs = (after.at(-1) ?? response).exchange.timeline.endUs;
  return {
    stated,
    spentAfter: surelySpent(spendsOf({ ...part, responses: after }, tokens)),
    tookUs: endUs - response.exchange.timeline.dueUs,
    deniedNext: next !== undefined && isRateDenial(next) ? part.most : undefined,
  };
}

export const TOKEN_DENIALS: readonly Check[] = [denial, retryAfter, remaining];
