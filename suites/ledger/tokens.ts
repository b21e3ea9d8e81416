import { type Check, defineCheck, type Response } from "../../src/checks/index.ts";
import type { LedgerRow } from "../../src/target/index.ts";
import { inputTokensIn, outputTokensIn, tokenCountsOf } from "../shared/judge/token-counts.ts";
import type { Tokens } from "./cases.ts";
import {
  assumeRows,
  assumeServedRows,
  chargedIn,
  isPartlyElsewhere,
  type LedgerRecording,
  ledgerScenario,
  rowsOf,
  type Sent,
} from "./scenario.ts";

/** The row that states the tokens of a request: of several, the first with a charge. */
function rowOf(rows: readonly LedgerRow[]): LedgerRow | undefined {
  return rows.find(({ costMicroUsd }) => (costMicroUsd ?? 0) > 0) ?? rows[0];
}

const sumOf = (all: readonly Partial<Tokens>[], kind: keyof Tokens): number =>
  all.reduce((sum, tokens) => sum + (tokens[kind] ?? 0), 0);

/** Served requests with their rows. */
function recorded(recording: LedgerRecording): readonly { readonly one: Sent; readonly row: LedgerRow }[] {
  const { rows } = rowsOf(recording);
  return chargedIn(recording).flatMap(({ one, index }) => {
    const row = rowOf(rows[index] ?? []);
    return row === undefined ? [] : [{ one, row }];
  });
}

const tokens = defineCheck({
  id: "ledger.tokens",
  title: "The ledger records the tokens that the provider counted",
  covers: ["LEDGER-TOKENS"],
  explains:
    "The providers report different counts for each request: input, cached input, cache writes for five minutes and an hour, output and reasoning. The row of the request should have the same counts, in each field that the target file names; streaming and non-streaming, and also if another provider served it. A warning means that bills are based on numbers that differ from the provider's.",
  scenario: ledgerScenario,
  judge(recording, verdict) {
    assumeRows(recording, verdict);
    assumeServedRows(recording, verdict);
    const { terms, reading } = recording;
    if (terms.merges) {
      const expected = chargedIn(recording).map(({ one }) => one.tokens);
      if (!terms.isOwnKey || isPartlyElsewhere(recording))
        return verdict.inconclusive("merged rows may contain requests whose tokens are not known; set ledger.key");
      for (const kind of terms.kinds)
        verdict.should("LEDGER-TOKENS", sumOf(reading.rows, kind), sumOf(expected, kind), {
          because: `sum of ${kind}`,
        });
      return;
    }
    for (const { one, row } of recorded(recording))
      for (const kind of terms.kinds)
        verdict.should("LEDGER-TOKENS", row[kind], one.tokens[kind], {
          in: one.response,
          because: `${kind}: ${one.what}`,
        });
  },
});

/** The tokens that a reply states; of kinds that it does not mention, nothing. */
function statedTokens(response: Response): Partial<Tokens> {
  const counts = tokenCountsOf(response);
  const stated: { readonly [kind in keyof Tokens]: number | undefined } = {
    input: inputTokensIn(counts),
    cachedInput: counts["cache_read_input_tokens"] ?? counts["prompt_tokens_details.cached_tokens"],
    cacheWrite5m: counts["cache_creation.ephemeral_5m_input_tokens"],
    cacheWrite1h: counts["cache_creation.ephemeral_1h_input_tokens"],
    output: outputTokensIn(counts),
    reasoning: counts["completion_tokens_details.reasoning_tokens"],
  };
  return Object.fromEntries(Object.entries(stated).filter(([, count]) => count !== undefined));
}

const usage = defineCheck({
  id: "ledger.usage",
  title: "The ledger records the tokens that the reply states",
  covers: ["LEDGER-USAGE"],
  explains:
    "Compares the usage in each reply with the row of the request. If they disagree, a caller cannot check a bill. Kinds that the reply does not mention are not compared.",
  scenario: ledgerScenario,
  judge(recording, verdict) {
    assumeRows(recording, verdict);
    assumeServedRows(recording, verdict);
    const { terms, reading } = recording;
    const served = chargedIn(recording).map(({ one }) => one);
    const statedBy = served.map(({ response }) => statedTokens(response));
    verdict.assume(
      statedBy.some(({ input, output }) => input !== undefined && output !== undefined),
      "at least one reply states its usage",
    );
    if (terms.merges) {
      if (!terms.isOwnKey || isPartlyElsewhere(recording) || statedBy.some(({ output }) => output === undefined))
        return verdict.inconclusive("merged rows can be compared only with the usage of all requests");
      for (const kind of ["input", "output"] as const)
        verdict.should("LEDGER-USAGE", sumOf(reading.rows, kind), sumOf(statedBy, kind), { because: `sum of ${kind}` });
      return;
    }
    for (const { one, row } of recorded(recording)) {
      const stated = statedTokens(one.response);
      for (const kind of terms.kinds)
        if (stated[kind] !== undefined)
          verdict.should("LEDGER-USAGE", row[kind], stated[kind], {
            in: one.response,
            because: `${kind}: ${one.what}`,
          });
    }
  },
});

export const TOKENS: readonly Check[] = [tokens, usage];
