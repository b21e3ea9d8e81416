import { describe, expect, test } from "vitest";
import type { Response } from "../../src/checks/index.ts";
import type { LedgerPrice, LedgerReading, LedgerRow } from "../../src/target/index.ts";
import { casesFor, NO_TOKENS, type RequestOutcome, type Tokens } from "../../suites/ledger/cases.ts";
import { withoutEarlier } from "../../suites/ledger/earlier-rows.ts";
import { matchRows } from "../../suites/ledger/matching.ts";
import { priceOf } from "../../suites/ledger/price-of.ts";
import { idIn, type LedgerRecording, reportedTokens, type Sent, type Terms } from "../../suites/ledger/scenario.ts";
import type { Settled } from "../../suites/ledger/settle.ts";
import { judged, seen } from "../support/seen-response.ts";

const PRICE: LedgerPrice = {
  perRequestMicroUsd: 0,
  input: 1,
  cachedInput: 1,
  cacheWrite5m: 1,
  cacheWrite1h: 1,
  output: 4,
};
const FREE: LedgerPrice = { ...PRICE, input: 0, cachedInput: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0 };
const MODEL = "plain-model";

const TERMS: Terms = {
  kinds: ["input", "output"],
  prices: { [MODEL]: PRICE },
  merges: false,
  isOwnKey: true,
  namesKeys: true,
  isOfOneKey: true,
};

const response = (status: number, body?: object): Response =>
  seen({ sentMs: 0, endMs: 5, status, ...(body === undefined ? {} : { text: JSON.stringify(body) }) });

let made = 0;

/** A request with 30 output tokens and its own number of input tokens. */
function sent(outcome: RequestOutcome, change: Partial<Sent> & { readonly status?: number } = {}): Sent {
  const { status = outcome === "failed" ? 502 : 200, ...rest } = change;
  made++;
  return {
    what: `request ${made}`,
    outcome,
    model: MODEL,
    isForPrice: false,
    id: `req_${made}`,
    response: response(status),
    tokens: { ...NO_TOKENS, input: 2_000 + made, output: 30 },
    completed: status === 200 ? 1 : 0,
    received: 1,
    lagMs: 100,
    ...rest,
  };
}

/** The row that a correct ledger has of a request. */
function row({ id, tokens, model }: Sent, change: Partial<LedgerRow> = {}): LedgerRow {
  const costMicroUsd = priceOf(PRICE, tokens);
  return {
    requestId: id,
    isOwnKey: true,
    timeMs: 1,
    model,
    status: "ok",
    requests: 1,
    ...tokens,
    costMicroUsd,
    ...change,
  };
}

function reading(rows: readonly LedgerRow[], isUnfinished = false): Settled {
  const listed = { rows: rows.length, requests: rows.length, input: 0, output: 0, costMicroUsd: 0 };
  return { problem: null, rows, totals: null, listed, pages: 1, isUnfinished };
}

function judge(id: string, recorded: object) {
  const { status, message } = judged(id, recorded);
  return [status, message];
}

const recording = (
  all: readonly Sent[],
  rows: readonly LedgerRow[],
  terms: Partial<Terms> = {},
  isUnfinished = false,
): LedgerRecording => ({ terms: { ...TERMS, ...terms }, sent: all, reading: reading(rows, isUnfinished) });

const pass = ["pass", expect.any(String)];
const withCost = (input: number, change: Partial<LedgerRow> = {}) =>
  row(sent("served"), { requestId: `other_${input}`, input, ...change });

describe("rows that were there before the first request", () => {
  const [one, other] = [row(sent("served")), row(sent("served"))];
  const kept = (now: readonly LedgerRow[], before: readonly LedgerRow[], merges = false) =>
    withoutEarlier(reading(now), before, merges).rows;

  test("are left out, even if their cost has changed since; a row that is listed again is not", () => {
    expect(kept([one, other], [one])).toEqual([other]);
    expect(kept([{ ...one, costMicroUsd: 9 }, other], [one])).toEqual([other]);
    expect(kept([one, other, one], [one])).toEqual([other, one]);
    const unnamed = { ...one, requestId: null };
    expect(kept([unnamed, unnamed], [unnamed])).toEqual([unnamed]);
  });

  test("are subtracted from the rows into which they were merged", () => {
    const merged = { ...one, requestId: null, requests: 5, input: 500, output: 50, costMicroUsd: 70 };
    const before = { ...merged, requests: 2, input: 200, output: 20, costMicroUsd: 30 };
    const expected = { ...merged, requests: 3, input: 300, output: 30, costMicroUsd: 40 };
    expect(kept([merged], [before], true)).toMatchObject([
      { requests: expected.requests, input: expected.input, output: expected.output, costMicroUsd: 40 },
    ]);
    // The time of the row is that of its last request.
    expect(kept([{ ...merged, timeMs: 9 }], [before], true)).toMatchObject([{ requests: 3, input: 300 }]);
    expect(kept([merged], [merged], true)).toEqual([]);
  });

  test("an own key makes nothing else a violation", () => {
    const served = sent("served");
    const now: LedgerReading = withoutEarlier(reading([one, other, row(served)]), [one, other], false);
    expect(judge("ledger.once", recording([served], now.rows))).toEqual(pass);
    expect(judge("ledger.once", recording([served], [one, row(served)]))[0]).toBe("fail");
  });
});

test("without a row of a served request, only the missing rows are judged", () => {
  const [served, left] = [sent("served"), sent("uncertain")];
  const only = recording([served, left], [row(left)]);
  expect(judge("ledger.charged", only)[0]).toBe("fail");
  for (const id of ["ledger.tokens", "ledger.usage", "ledger.cost"])
    expect(judge(id, only)).toEqual(["blocked", "precondition not met: the ledger has a row for a served request"]);
});

describe("what identifies a row", () => {
  test("an id of several requests identifies none, and the input decides", () => {
    const all = [sent("served", { id: "same" }), sent("served", { id: "same" })] as const;
    const rows = all.map((one) => row(one));
    expect(
      matchRows(
        all.map(({ tokens: { input } }) => ({ id: "same", input })),
        rows,
      ).rows,
    ).toEqual(rows.map((one) => [one]));
    expect(judge("ledger.once", recording(all, rows))).toEqual(pass);
  });

  test("numbers are ids", () => {
    expect(idIn(response(200, { id: 17 }), ["/missing", "/id"])).toBe("17");
    expect(idIn(response(200, { id: "" }), ["/id"])).toBe(null);
  });

  test("a row of another key is one of these requests only by its id, if rows have ids", () => {
    const served = sent("served");
    const foreign = withCost(served.tokens.input, { isOwnKey: false });
    const ledger = { isOfOneKey: false };
    expect(judge("ledger.once", recording([served], [row(served), foreign], ledger))).toEqual(pass);
    const charged = row(served, { isOwnKey: false });
    expect(judge("ledger.once", recording([served], [row(served), charged], ledger))[0]).toBe("fail");
    expect(judge("ledger.once", recording([served], [row(served), foreign]))[0]).toBe("fail");
    // Interrupted requests explain no row of another key.
    const uncertain = sent("uncertain");
    expect(judge("ledger.once", recording([served, uncertain], [row(served), foreign]))[0]).toBe("fail");
    expect(judge("ledger.once", recording([served, uncertain], [row(served), withCost(7)]))).toEqual(pass);
    expect(judge("ledger.once", recording([served, uncertain], [row(served), withCost(7), withCost(8)]))[0]).toBe(
      "fail",
    );
  });
});

describe("requests that no scripted provider received", () => {
  const served = sent("served");
  const elsewhere = sent("served", { received: 0 });

  test.each(["ledger.charged", "ledger.once", "ledger.tokens", "ledger.cost"])("%s is inconclusive", (id) => {
    const wrong = row(elsewhere, { input: 7, output: 9, costMicroUsd: 1 });
    expect(judge(id, recording([served, elsewhere], [row(served), wrong]))).toEqual([
      "inconclusive",
      expect.stringContaining("something other than the providers"),
    ]);
  });

  test("if none was received, the target file has to change", () => {
    expect(judge("ledger.cost", recording([elsewhere], [row(elsewhere)]))[0]).toBe("blocked");
  });

  test("a model that is sent for its price alone concerns one check", () => {
    const priced = sent("served", { received: 0, isForPrice: true });
    const recorded = recording([served, priced], [row(served), row(priced)]);
    expect(judge("ledger.cost", recorded)).toEqual(pass);
    expect(judge("ledger.models", recorded)[0]).toBe("inconclusive");
  });

  test("they are part of sums", () => {
    const merged = row(served, { requestId: null, requests: 2 });
    for (const id of ["ledger.tokens", "ledger.cost"])
      expect(judge(id, recording([served, elsewhere], [merged], { merges: true }))[0]).toBe("inconclusive");
  });
});

describe("requests that failed", () => {
  const served = sent("served");

  test("a refusal is no failure of a provider, and nothing tested is no pass", () => {
    const refused = sent("failed", { status: 400, received: 0 });
    expect(judge("ledger.failures", recording([served, refused], [row(served)]))[0]).toBe("blocked");
    expect(judge("ledger.failures", recording([served, sent("failed")], [row(served)]))).toEqual(pass);
  });

  test("a charge may belong to an interrupted stream", () => {
    const [failed, uncertain] = [sent("failed", { id: null }), sent("uncertain")];
    const rows = [row(served), withCost(7)];
    expect(judge("ledger.failures", recording([served, failed], rows))[0]).toBe("fail");
    expect(judge("ledger.failures", recording([served, failed, uncertain], rows))[0]).toBe("inconclusive");
    expect(judge("ledger.failures", recording([served, failed, uncertain], [row(served)]))).toEqual(pass);
  });
});

describe("charges", () => {
  const served = sent("served");

  test("merged rows of a key that others use prove nothing", () => {
    const merged = row(served, { requestId: null });
    const others = { merges: true, isOwnKey: false };
    expect(judge("ledger.charged", recording([served], [merged], others))[0]).toBe("inconclusive");
    expect(judge("ledger.charged", recording([served], [merged], { merges: true }))).toEqual(pass);
    const free = { ...merged, costMicroUsd: 0 };
    expect(judge("ledger.charged", recording([served], [free], { merges: true }))[0]).toBe("fail");
  });

  test("a model whose price is 0 needs no cost", () => {
    const free = sent("served", { model: "free" });
    const rows = [row(served), row(free, { costMicroUsd: 0 })];
    expect(judge("ledger.charged", recording([served, free], rows))[0]).toBe("fail");
    const prices = { [MODEL]: PRICE, free: FREE };
    expect(judge("ledger.charged", recording([served, free], rows, { prices }))).toEqual(pass);
  });

  test("a row that is missing while others still appear is not decided", () => {
    const late = sent("served", { lagMs: null });
    expect(judge("ledger.charged", recording([served, late], [row(served)]))[0]).toBe("fail");
    expect(judge("ledger.charged", recording([served, late], [row(served)], {}, true))[0]).toBe("inconclusive");
  });
});

test("the plain model of the other dialect has its own price, and is not an additional model", () => {
  const [chat, messages] = [sent("served"), sent("served", { model: "messages-model" })];
  const prices = { [MODEL]: PRICE, "messages-model": { ...PRICE, output: 8 } };
  const dear = row(messages, { costMicroUsd: priceOf(prices["messages-model"], messages.tokens) });
  expect(judge("ledger.cost", recording([chat, messages], [row(chat), dear], { prices }))).toEqual(pass);
  expect(judge("ledger.cost", recording([chat, messages], [row(chat), row(messages)], { prices }))[0]).toBe("fail");
  expect(judge("ledger.models", recording([chat, messages], [row(chat), dear], { prices }))[0]).toBe("not-applicable");
});

describe("many small requests", () => {
  const small = (costMicroUsd: number, price: LedgerPrice, failures = 0) => {
    const [served, tokens] = [100, { ...NO_TOKENS, input: 500, output: 100 }];
    const failed = Array.from({ length: failures }, () => sent("failed").response);
    const failedTokens = { ...NO_TOKENS, input: 5 * failures, output: failures };
    const rows = [row(sent("served"), { ...tokens, requests: served, costMicroUsd })];
    const terms = { ...TERMS, prices: { [MODEL]: price } };
    return judge("ledger.rounding", {
      ...{ terms, reading: reading(rows), tokens, failedTokens, served, fromOthers: [], model: MODEL, failed },
    })[0];
  };

  test("a zero charge never passes", () => {
    expect(small(900, PRICE)).toBe("pass");
    expect(small(0, PRICE)).toBe("fail");
    // 90 micro-dollars, of which rounding may hide 50.
    const cheap = { ...PRICE, input: 0.1, output: 0.4 };
    expect(small(0, cheap)).toBe("inconclusive");
    expect(small(0, FREE)).toBe("not-applicable");
  });

  test("requests that failed may have been charged, and no more than they would cost", () => {
    expect(small(1_080, PRICE)).toBe("fail");
    expect(small(1_080, PRICE, 20)).toBe("pass");
    expect(small(900, PRICE, 20)).toBe("pass");
    expect(small(1_200, PRICE, 20)).toBe("fail");
    // If most failed, any total would be accepted.
    expect(small(900, PRICE, 60)).toBe("inconclusive");
  });
});

describe("the requests", () => {
  test("what should be served comes before what fails", () => {
    const cases = casesFor({
      dialects: ["chat", "messages"],
      failover: ["primary", "other"],
      otherModels: ["alias"],
      hasIds: true,
    });
    const order = ["served", "retried", "failed", "uncertain"];
    const outcomes = cases.map(({ outcome }) => outcome);
    expect(outcomes).toEqual([...outcomes].sort((a, b) => order.indexOf(a) - order.indexOf(b)));
    expect(new Set(outcomes).size).toBe(4);
    expect(cases.at(0)?.model).toBeUndefined();
  });

  test("a provider reports the kinds of tokens of its own dialect", () => {
    const all: Tokens = { input: 9, cachedInput: 1, cacheWrite5m: 2, cacheWrite1h: 3, output: 5, reasoning: 4 };
    expect(reportedTokens(all, "/v1/messages?beta=true")).toEqual({ ...all, reasoning: 0 });
    expect(reportedTokens(all, "/v1/chat/completions")).toEqual({ ...all, cacheWrite5m: 0, cacheWrite1h: 0 });
  });
});
