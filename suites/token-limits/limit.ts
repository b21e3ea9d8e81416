import { type Check, defineCheck } from "../../src/checks/index.ts";
import { atLeast, atMost, type Verdict } from "../../src/judging/index.ts";
import { mostSpentInWindow, surelySpent } from "../../src/limits/index.ts";
import { isConcurrencyDenial, isRateDenial, isRefused, isServed } from "../limits/denials.ts";
import {
  allowedTokens,
  exceedsTokens,
  isEarly,
  largestOf,
  leastUsed,
  type Part,
  spendsOf,
  type TokensAsDeclared,
  usedAtDenial,
} from "./part.ts";
import { type TokenRecording, tokenScenario } from "./scenario.ts";

/** `5200 tokens admitted in 0.4 s, by 8 of 12 requests`. */
function inWords(part: Part, tokens: TokensAsDeclared): string {
  const spends = spendsOf(part, tokens);
  return `${surelySpent(spends)} tokens admitted in ${part.seconds.toFixed(1)} s, by ${spends.length} of ${part.responses.length} requests`;
}

/** Why a series that neither met nor exceeded the limit says nothing about it; `undefined` if it does. */
function tooFew(part: Part, tokens: TokensAsDeclared): string | undefined {
  if (part.responses.some(isRateDenial) || exceedsTokens(part, tokens)) return undefined;
  const trouble = part.responses.find((response) => !isServed(response));
  return trouble === undefined
    ? `${inWords(part, tokens)}: too few to reach the limit of ${tokens.tokensPerMinute}`
    : `${inWords(part, tokens)}; one was neither served nor denied by its token limit: ${trouble.summary}`;
}

/** How often a correct window of the kind may admit more than the limit. */
const edges = ({ window }: TokensAsDeclared): number => (window === "rolling" ? 0 : 1);

/** Reports for a part and its repetition how many admitted too much. */
function judgeExcess(
  requirement: "TOKENS-ENFORCED" | "TOKENS-AT-ONCE",
  parts: readonly Part[],
  tokens: TokensAsDeclared,
  verdict: Verdict,
): void {
  const over = parts.filter((part) => exceedsTokens(part, tokens));
  const [shown] = over.length > 0 ? over : parts;
  if (shown === undefined) return;
  const beyond = `limit ${tokens.tokensPerMinute} per minute, ${allowedTokens(shown, tokens)} with what may be beyond it`;
  verdict.must(requirement, over.length, atMost(edges(tokens)), {
    in: shown.responses.findLast(isServed),
    because: `series beyond the limit: ${parts.map((part) => inWords(part, tokens)).join("; ")}; ${beyond}`,
  });
}

const enforced = defineCheck({
  id: "token-limits.enforced",
  scenario: tokenScenario,
  basis: "timing",
  title: "The token limit holds for requests of every kind",
  covers: ["TOKENS-ENFORCED"],
  explains:
    "Sends sequential requests after a quiet period, in both dialects, until one is denied, up to more than twice the limit. The total of their usage must stay within the limit, plus the request that crosses it, or tokenLimits.inFlightTokens if that is more. One series may exceed it if it spans the edge of a fixed window; then it is repeated. While the account is denied, streams, the other dialect and the key in other spellings must be denied too. A failure means that something is not counted: completion tokens, streams, a dialect, a spelling of the key, or everything.",
  judge(recording, verdict) {
    const { tokens, inARow, whileDenied } = recording;
    judgeExcess("TOKENS-ENFORCED", inARow, tokens, verdict);
    const free = whileDenied.find(
      ({ before, tries, after }) => isRefused(before) && isRefused(after) && tries.every(isServed),
    );
    if (whileDenied.length > 0)
      verdict.must("TOKENS-ENFORCED", free?.kind ?? "none", "none", {
        in: free?.tries[0] ?? whileDenied[0]?.tries[0],
        because: "kinds of requests that were served between two denials of a request of the same size",
      });
    judgeAnyMinute(recording, verdict);
    const why = inARow[0] && tooFew(inARow[0], tokens);
    if (why !== undefined) verdict.markUndecided("inconclusive", why);
  },
});

/**
 * No minute holds more than the limit of a rolling window, or twice that of a fixed one; an excess within a burst is judged as
 * such.
 */
function judgeAnyMinute({ tokens, probes, atOnce, inARow, wait }: TokenRecording, verdict: Verdict): void {
  const parts = [probes, ...atOnce.filter((part) => !exceedsTokens(part, tokens)), ...inARow];
  const beyond = Math.max(tokens.inFlightTokens ?? 0, ...parts.map((part) => largestOf(part, tokens)));
  const [shape] = atOnce;
  const retried = wait === null || shape === undefined ? [] : spendsOf({ ...shape, responses: [wait.retried] }, tokens);
  const spent = mostSpentInWindow([...parts.flatMap((part) => spendsOf(part, tokens)), ...retried]);
  verdict.must("TOKENS-ENFORCED", spent, atMost(tokens.tokensPerMinute * (1 + edges(tokens)) + beyond), {
    because: `tokens of requests that were admitted and completed within one minute, limit ${tokens.tokensPerMinute}`,
  });
}

const together = defineCheck({
  id: "token-limits.at-once",
  scenario: tokenScenario,
  basis: "timing",
  title: "Simultaneous requests do not jointly exceed the token limit",
  covers: ["TOKENS-AT-ONCE"],
  explains:
    "After a quiet period, sends as many simultaneous requests as would take twice the limit. The admitted ones may take the limit plus tokenLimits.inFlightTokens, or plus one request. A limit that is checked before a request and counted after its reply admits all of them. Where the limit counts the usage of replies and the target file does not say how much requests in flight may take, the figure is only recorded.",
  judge({ tokens, atOnce }, verdict) {
    const [first] = atOnce;
    if (first === undefined) return verdict.inconclusive("no concurrent requests were sent");
    if (first.responses.length < 2) return verdict.inconclusive("the account allows one request in flight");
    if (tokens.inFlightTokens === null)
      return verdict.note(
        "TOKENS-AT-ONCE",
        `${inWords(first, tokens)}, sent concurrently; limit ${tokens.tokensPerMinute} per minute`,
        { in: first.responses[0] },
      );
    judgeExcess("TOKENS-AT-ONCE", atOnce, tokens, verdict);
    const isReached = surelySpent(spendsOf(first, tokens)) >= tokens.tokensPerMinute;
    const why = isReached || first.responses.some(isConcurrencyDenial) ? undefined : tooFew(first, tokens);
    if (why !== undefined) verdict.markUndecided("inconclusive", why);
  },
});

const notEarly = defineCheck({
  id: "token-limits.not-early",
  scenario: tokenScenario,
  basis: "timing",
  title: "Usage well below the token limit is not denied",
  covers: ["TOKENS-NOT-EARLY"],
  explains:
    "The sequential requests after a quiet period must have used four fifths of the limit before the first denial, counting everything that may count, including output that a request allowed but did not use. If they are denied earlier, as by a limit that refills evenly and saves little, requests of a twenty-fourth of the limit each are sent evenly for a minute after a quiet one, 70 % of the limit in all: none may be denied. A failure means a smaller limit than declared, tokens that count twice, or other traffic on the account.",
  judge({ tokens, inARow: [first], evenly }, verdict) {
    if (first === undefined) return verdict.inconclusive("no requests were sent in a row");
    const why = tooFew(first, tokens);
    if (why !== undefined) return verdict.inconclusive(why);
    const used = usedAtDenial(first, tokens);
    const denied = first.responses.find(isRateDenial);
    if (used === undefined || !isEarly(first, tokens)) {
      verdict.must("TOKENS-NOT-EARLY", used ?? surelySpent(spendsOf(first, tokens)), atLeast(leastUsed(tokens)), {
        in: denied ?? first.responses.at(-1),
        because: `tokens that possibly counted at the first denial, limit ${tokens.tokensPerMinute} per minute`,
      });
      return;
    }
    if (evenly === null)
      return verdict.inconclusive(`denied after ${used} tokens in a row, and nothing was sent evenly`);
    const refused = evenly.responses.filter(isRateDenial);
    const requested = Math.round(evenly.most * evenly.responses.length);
    verdict.must("TOKENS-NOT-EARLY", refused.length, 0, {
      in: refused[0],
      because: `denied of ${evenly.responses.length} requests of ${requested} tokens in all, sent evenly over a minute, limit ${tokens.tokensPerMinute}; in a row the first denial arrived after ${used}`,
    });
  },
});

export const TOKEN_LIMIT: readonly Check[] = [enforced, together, notEarly];
