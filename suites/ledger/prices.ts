import { type Check, defineCheck, defineScenario, type Response, type Session } from "../../src/checks/index.ts";
import { formatNumber, formatRounded } from "../../src/core/index.ts";
import { that, type Verdict } from "../../src/judging/index.ts";
import type { Key, LedgerReading } from "../../src/target/index.ts";
import { sendMarked } from "../upstream/marked.ts";
import { NO_TOKENS, requestOf, scriptedUsage, type Tokens } from "./cases.ts";
import { priceOf } from "./price-of.ts";
import {
  assumeReached,
  assumeRead,
  assumeRows,
  assumeServedRows,
  chargedIn,
  costIn,
  isPartlyElsewhere,
  type LedgerRecording,
  ledgerScenario,
  modelOf,
  requestsIn,
  rowsOf,
  type Sent,
  type Terms,
  termsOf,
} from "./scenario.ts";
import { readBefore, settle } from "./settle.ts";

/** How much a cost may differ from its price: a micro-dollar, which is a usual unit, or a thousandth. */
const MAX_DEVIATION = { microUsd: 1, share: 0.001 } as const;

/** About as much as the price. @param count costs that were rounded one by one. */
function about(price: number, count = 1) {
  const bound = Math.max(MAX_DEVIATION.microUsd * count, price * MAX_DEVIATION.share);
  return {
    ...that<number>(
      `${formatRounded(price, 1)} ±${formatRounded(bound, 1)}`,
      (cost) => Math.abs(cost - price) <= bound,
    ),
    magnitude: (cost: number) => (price > 0 && cost > 0 ? Math.max(cost / price, price / cost) : undefined),
  };
}

/** Continues only if the target file has prices. */
function assumePrices({ prices }: Terms, verdict: Verdict): void {
  if (Object.keys(prices).length === 0) verdict.notApplicable("the target file declares no prices (ledger.prices)");
}

const cost = defineCheck({
  id: "ledger.cost",
  title: "The cost of a request matches the declared prices of its tokens",
  covers: ["LEDGER-COST"],
  explains:
    "Computes the price of each request from the tokens that the provider counted and `ledger.prices` of the target file: cached input, cache writes by lifetime and reasoning (part of the output) at their own prices, streaming and non-streaming. The recorded cost may differ by a micro-dollar or a thousandth. `ledger.tokens` shows whether tokens or prices are wrong.",
  scenario: ledgerScenario,
  judge(recording, verdict) {
    assumeRows(recording, verdict);
    assumePrices(recording.terms, verdict);
    assumeServedRows(recording, verdict);
    if (recording.terms.merges) return judgeSum(recording, verdict);
    const priced = judgePrices(recording, verdict, ({ isForPrice }) => !isForPrice);
    if (priced === 0)
      verdict.missingFixture("the target file has no price for the model of these requests", [
        "ledger:",
        "  prices:",
        `    ${mainModel(recording) ?? "<model>"}: { inputPerMTok: <USD>, outputPerMTok: <USD> }`,
      ]);
  },
});

/** The model of most requests. */
const mainModel = ({ sent }: LedgerRecording): string | null => sent[0]?.model ?? null;

/** @returns how many rows were compared with a price. */
function judgePrices(recording: LedgerRecording, verdict: Verdict, isJudged: (one: Sent) => boolean): number {
  const { rows } = rowsOf(recording);
  let priced = 0;
  for (const { one, index } of chargedIn(recording)) {
    const own = rows[index] ?? [];
    const price = one.model === null || !isJudged(one) ? undefined : recording.terms.prices[one.model];
    if (price === undefined || own.length === 0) continue;
    priced++;
    verdict.must("LEDGER-COST", costIn(own), about(priceOf(price, one.tokens)), {
      in: one.response,
      because: `cost, micro-dollars: ${one.what}`,
    });
  }
  return priced;
}

/** Rows of several requests: only their sum has a price. */
function judgeSum(recording: LedgerRecording, verdict: Verdict): void {
  const { terms, reading } = recording;
  const served = chargedIn(recording).map(({ one }) => one);
  const prices = served.map(({ model, tokens }) => {
    const price = model === null ? undefined : terms.prices[model];
    return price === undefined ? undefined : priceOf(price, tokens);
  });
  if (!terms.isOwnKey || isPartlyElsewhere(recording) || prices.some((price) => price === undefined))
    verdict.inconclusive(
      "merged rows can be compared only if every model has a price and is served by these providers, and nothing else uses the key",
    );
  const expected = prices.reduce<number>((sum, price) => sum + (price ?? 0), 0);
  verdict.must("LEDGER-COST", costIn(reading.rows), about(expected, served.length), {
    because: `cost of ${served.length} requests, micro-dollars`,
  });
}

const models = defineCheck({
  id: "ledger.models",
  title: "Each model is charged at its own price, including aliases",
  covers: ["LEDGER-COST"],
  explains:
    "Sends a request to each further model that has a price in `ledger.prices` (up to four), for example an alias, and compares the cost with that price. A failure means that a model is charged at the price of another one.",
  scenario: ledgerScenario,
  judge(recording, verdict) {
    assumeRows(recording, verdict);
    assumePrices(recording.terms, verdict);
    if (recording.terms.merges)
      return verdict.notApplicable(
        "this ledger merges requests into one row, so individual requests cannot be checked",
      );
    const others = recording.sent.filter(({ isForPrice }) => isForPrice);
    if (others.length === 0) return verdict.notApplicable("the target file declares a price for only one model");
    const fromOthers = others.filter(({ response, received }) => response.admitted && received === 0);
    const reached = `${others.length - fromOthers.length} of ${others.length} models`;
    if (fromOthers.length > 0)
      verdict.markUndecided("inconclusive", `only ${reached} were served by the providers of \`upstream\``);
    if (fromOthers.length === others.length) return;
    for (const { response, model } of others) verdict.requireControl(response, `a request for ${model}`);
    const priced = judgePrices(recording, verdict, ({ isForPrice }) => isForPrice);
    verdict.assume(priced > 0, "the ledger has a row for a request to another model");
  },
});

/** Requests with a few tokens each; fewer in a quick run, and where a minute has room for fewer. */
const SMALL = { requests: 1_000, quick: 60, slow: 100 } as const;
/** Accounts with a lower limit take minutes for a thousand requests. */
const FAST_RPM = 3_000;
const AT_ONCE = 8;

type SmallRecording = {
  readonly terms: Terms;
  readonly reading: LedgerReading;
  /** Total tokens of the requests that were served. */
  readonly tokens: Tokens;
  /** The same for those that were not. */
  readonly failedTokens: Tokens;
  readonly served: number;
  /** Those of them that other providers served. */
  readonly fromOthers: readonly Response[];
  readonly model: string | null;
  readonly failed: readonly Response[];
};

function smallRequests({ limits, source }: Session["target"], isQuick: boolean): number {
  if (isQuick) return SMALL.quick;
  return source === "embedded" || (limits !== undefined && limits.rpm >= FAST_RPM) ? SMALL.requests : SMALL.slow;
}

const smallScenario = defineScenario<SmallRecording>({
  id: "ledger.small",
  needs: ["ledger", "upstream"],
  schedule: { order: "exclusive" },
  cost: {
    requests: (target) => smallRequests(target, false),
    waitS: 10,
    quick: { requests: SMALL.quick, waitS: 5 },
  },
  async run(t) {
    const { key, isOwn } = await t.ledger.key();
    const fromMs = Date.now();
    const count = smallRequests(t.target, t.run.isQuick);
    const before = await readBefore(t, { key, fromMs });
    // Nothing is sent if the rows could not be distinguished from earlier ones.
    const sent = before.problem === null ? await sendSmall(t, key, count) : [];
    const served = sent.filter(({ response }) => response.admitted);
    const reading =
      before.problem !== null
        ? before
        : await settle(t, {
            key,
            fromMs,
            before: before.rows,
            isComplete: (rows) => requestsIn(rows.filter(isSmall)) >= served.length,
          });
    const failed = sent.filter(({ response }) => !response.admitted);
    return {
      terms: termsOf(t, isOwn),
      reading: { ...reading, rows: reading.rows.filter(isSmall) },
      tokens: tokensOf(served),
      failedTokens: tokensOf(failed),
      served: served.length,
      fromOthers: served.filter(({ received }) => received === 0).map(({ response }) => response),
      model: modelOf(t, t.dialect, undefined),
      failed: failed.map(({ response }) => response),
    };
  },
  assume({ reading, failed, served, fromOthers }, verdict) {
    assumeRead(reading, verdict);
    const [first] = failed;
    if (served === 0 && first !== undefined) verdict.requireControl(first, "a small request");
    if (fromOthers.length === 0) return;
    if (fromOthers.length === served)
      assumeReached(
        fromOthers.map((response) => ({ response, received: 0 })),
        verdict,
      );
    verdict.inconclusive(
      `${fromOthers.length} of ${served} requests were served by something other than the providers of \`upstream\``,
    );
  },
});

function tokensOf(some: readonly { readonly tokens: Tokens }[]): Tokens {
  const sum = (kind: keyof Tokens) => some.reduce((total, { tokens }) => total + tokens[kind], 0);
  return { ...NO_TOKENS, input: sum("input"), output: sum("output") };
}

/** Inputs of one to nine tokens: other checks have larger ones. */
const MAX_SMALL = 9;
const isSmall = ({ input, requests }: { readonly input: number; readonly requests: number }) =>
  input <= MAX_SMALL * requests;

async function sendSmall(t: Session, key: Key, count: number) {
  const sent: { readonly tokens: Tokens; readonly response: Response; readonly received: number }[] = [];
  const model = modelOf(t, t.dialect, undefined);
  const request = requestOf({ what: "small", outcome: "served", dialect: t.dialect, mode: "non-streaming" });
  let next = 0;
  const work = async () => {
    while (next < count) {
      const tokens = { ...NO_TOKENS, input: 1 + (next++ % MAX_SMALL), output: 1 };
      const own = { ...request, key, ...(model === null ? {} : { model: { id: model } }) };
      const { response, upstream } = await sendMarked(t, own, { "*": { usage: scriptedUsage(tokens), pieces: 1 } });
      sent.push({ tokens, response, received: upstream.requests.length });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return sent;
}

const rounding = defineCheck({
  id: "ledger.rounding",
  title: "The total cost of many small requests matches the price of their tokens",
  covers: ["LEDGER-COST"],
  explains:
    "Sends up to 1,000 requests with a few tokens each (60 in a quick run, 100 where the rate limit is lower than 3,000 per minute) and compares the sum of their costs with the price of the sum of their tokens. It may differ by a hundredth, or by half a micro-dollar per request. Failed requests may be charged or not; both are accepted. A gateway that rounds each request to cents charges either nothing or many times the price.",
  scenario: smallScenario,
  judge({ terms, reading, tokens, failedTokens, served, failed, model }, verdict) {
    assumePrices(terms, verdict);
    const price = model === null ? undefined : terms.prices[model];
    if (price === undefined)
      return verdict.notApplicable("the target file has no price for the model of these requests");
    const counted = requestsIn(reading.rows);
    verdict.assume(counted > 0, "the ledger has rows of these requests");
    if (counted < served || !terms.isOwnKey)
      verdict.assume(counted === served, `the ledger has a row for each of the ${formatNumber(served)} requests`);
    const costOf = (requests: number, used: Tokens) =>
      requests * price.perRequestMicroUsd + priceOf({ ...price, perRequestMicroUsd: 0 }, used);
    const expected = costOf(served, tokens);
    if (expected === 0) return verdict.notApplicable("the model of these requests is free");
    const bound = Math.max(expected * 0.01, served * 0.5);
    // Otherwise a ledger that charges nothing would pass.
    if (bound >= expected / 2)
      return verdict.inconclusive(
        `${formatNumber(served)} requests cost only ${formatRounded(expected, 1)} micro-dollars, which half a micro-dollar per request may hide`,
      );
    const total = costIn(reading.rows);
    // `ledger.failures` judges whether failed requests are charged; here, both are accepted.
    const maximum = expected + costOf(failed.length, failedTokens);
    if (maximum - expected + bound >= expected / 2)
      return verdict.inconclusive(
        `${formatNumber(failed.length)} of ${formatNumber(served + failed.length)} requests failed: too many, as each may have been charged or not`,
      );
    const range = failed.length === 0 ? "" : ` to ${formatRounded(maximum, 1)}`;
    verdict.must(
      "LEDGER-COST",
      total,
      {
        ...that<number>(
          `${formatRounded(expected, 1)}${range} ±${formatRounded(bound, 1)}`,
          (sum) => sum >= expected - bound && sum <= maximum + bound,
        ),
        magnitude: (sum) => (sum > 0 ? Math.max(sum / expected, expected / sum) : undefined),
      },
      {
        because: `cost of ${formatNumber(served)} small requests${failed.length === 0 ? "" : ` and ${formatNumber(failed.length)} that failed`}, micro-dollars`,
      },
    );
  },
});

export const PRICES: readonly Check[] = [cost, models, rounding];
