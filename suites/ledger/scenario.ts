import { defineScenario, type Response, type Session, type UpstreamTraffic } from "../../src/checks/index.ts";
import { atPointer } from "../../src/core/index.ts";
import type { Dialect } from "../../src/dialects/index.ts";
import type { Verdict } from "../../src/judging/index.ts";
import type { Key, LedgerPrice, LedgerReading, LedgerRow } from "../../src/target/index.ts";
import { sendMarked } from "../upstream/marked.ts";
import { type Case, casesOf, NO_TOKENS, type RequestOutcome, requestOf, scriptedUsage, type Tokens } from "./cases.ts";
import { type Matched, matchRows, requestsById } from "./matching.ts";
import { readBefore, SETTLE_TIMEOUT_MS, type Settled, settle } from "./settle.ts";

/** A request, and what is known of it besides its row. */
export type Sent = {
  readonly what: string;
  readonly outcome: RequestOutcome;
  readonly model: string | null;
  /** It is sent only because its model has a price. */
  readonly isForPrice: boolean;
  /** The id of its row, as the response showed it. */
  readonly id: string | null;
  readonly response: Response;
  /** What the provider counted and reported. */
  readonly tokens: Tokens;
  /** Replies that providers completed, and requests that they received. */
  readonly completed: number;
  readonly received: number;
  /** When its row was first seen, ms after its response, or after the first reading if that was later; `null`: never. */
  readonly lagMs: number | null;
};

/** What the target file says about the ledger. */
export type Terms = {
  /** Fields of tokens that rows have. */
  readonly kinds: readonly (keyof Tokens)[];
  readonly prices: Readonly<Record<string, LedgerPrice>>;
  /** Whether a row may stand for several requests. */
  readonly merges: boolean;
  /** Whether nothing else is sent with the key. */
  readonly isOwnKey: boolean;
  /** Whether rows name their key. */
  readonly namesKeys: boolean;
  /** Whether the URL of the ledger returns the rows of a single key. */
  readonly isOfOneKey: boolean;
};

export type LedgerRecording = {
  readonly terms: Terms;
  readonly sent: readonly Sent[];
  readonly reading: Settled;
};

/** Tokens of every kind, as fields of a row. */
const KINDS = Object.keys(NO_TOKENS) as (keyof Tokens)[];

export function termsOf(t: Session, isOwnKey: boolean): Terms {
  const { ledger } = t.target;
  return {
    kinds: KINDS.filter((kind) => ledger?.fields[kind] !== undefined),
    prices: ledger?.prices ?? {},
    merges: ledger?.fields.requests !== undefined,
    isOwnKey,
    namesKeys: ledger?.fields.key !== undefined,
    isOfOneKey: ledger?.from.kind === "http" && ledger.from.url.includes("{key}"),
  };
}

/** Smallest input, and by how much two inputs differ at least: rows are identified by them. */
const MIN_INPUT = 2_000;
const INPUT_RANGE = 6_000;
const INPUT_STEP = 3;

export const ledgerScenario = defineScenario<LedgerRecording>({
  id: "ledger.requests",
  needs: ["ledger", "upstream"],
  schedule: { order: "exclusive", failsUpstream: true },
  cost: { requests: (target) => casesOf(target).length, waitS: 10 },
  async run(t) {
    const { key, isOwn } = await t.ledger.key();
    const terms = termsOf(t, isOwn);
    const fromMs = Date.now();
    const before = await readBefore(t, { key, fromMs });
    // Nothing is sent if the rows could not be distinguished from earlier ones.
    if (before.problem !== null) return { terms, reading: { ...before, isUnfinished: false }, sent: [] };
    // Different in every run: the ledger may show rows of an earlier one late.
    const base = MIN_INPUT + (fromMs % INPUT_RANGE);
    const sent: Omit<Sent, "lagMs">[] = [];
    for (const [index, one] of casesOf(t.target).entries()) {
      const scripted = { ...NO_TOKENS, ...one.usage, input: base + index * INPUT_STEP };
      const { response, upstream } = await send(t, one, scripted, key);
      sent.push({
        what: one.what,
        outcome: one.outcome,
        model: modelOf(t, one.dialect, one.model),
        isForPrice: one.model !== undefined,
        id: idIn(response, t.target.ledger?.responseId ?? []),
        response,
        tokens: reportedTokens(scripted, upstream.requests.findLast(({ status }) => status === 200)?.path),
        completed: upstream.requests.filter(({ status, end }) => status === 200 && end === "complete").length,
        received: upstream.requests.length,
      });
    }
    const settlesMs = Date.now();
    const seenMs = new Map<number, number>();
    const isComplete = (rows: readonly LedgerRow[]) => {
      const nowMs = Date.now();
      const matched = matchRows(identitiesOf(sent), rows);
      for (const [index, own] of matched.rows.entries())
        if (own.length > 0 && !seenMs.has(index)) seenMs.set(index, nowMs);
      return terms.merges
        ? requestsIn(rows) >= sent.filter(isCharged).length
        : sent.every((one, index) => !isCharged(one) || seenMs.has(index));
    };
    const reading = await settle(t, { key, fromMs, before: before.rows, isComplete });
    const lagOf = (one: Omit<Sent, "lagMs">, index: number) => {
      const atMs = seenMs.get(index);
      return atMs === undefined ? null : Math.max(0, Math.round(atMs - Math.max(settlesMs, one.response.arrivedAtMs)));
    };
    return { terms, reading, sent: sent.map((one, index) => ({ ...one, lagMs: lagOf(one, index) })) };
  },
  assume({ reading, sent }, verdict) {
    assumeRead(reading, verdict);
    const [first] = sent;
    if (first !== undefined && !sent.some(({ response }) => response.admitted))
      verdict.requireControl(first.response, "a request for a model of these providers");
    const lost = sent.find(
      ({ outcome, response }) => outcome === "served" && !response.admitted && !isUnsupported(response),
    );
    if (lost !== undefined)
      verdict.markUndecided("inconclusive", `a request was not served (${lost.what}): ${lost.response.summary}`);
    const admitted = sent.filter(({ response }) => response.admitted);
    assumeReached(admitted, verdict);
    // A model that is sent only for its price is judged by one check alone.
    const fromOthers = admitted.find(({ received, isForPrice }) => received === 0 && !isForPrice);
    if (fromOthers !== undefined)
      verdict.markUndecided(
        "inconclusive",
        `a request was served by something other than the providers of \`upstream\` (${fromOthers.what}), so its tokens are unknown`,
      );
  },
});

/** Continues only if a served request reached the providers: nothing is known of the tokens of others. */
export function assumeReached(
  admitted: readonly { readonly received: number; readonly response: Response }[],
  verdict: Verdict,
): void {
  const [first] = admitted;
  if (first === undefined || admitted.some(({ received }) => received > 0)) return;
  verdict.missingFixture("no request reached the providers of `upstream`", [
    "upstream:",
    `  model: { ${first.response.requested.endpoint}: <a model that they serve> }`,
  ]);
}

/**
 * A provider reports only the kinds of its own dialect, whatever the caller's is.
 *
 * @param path of the request that the provider served; `undefined`: none was served.
 */
export function reportedTokens(scripted: Tokens, path: string | undefined): Tokens {
  if (path === undefined) return scripted;
  return /\/messages(?:\?|$)/.test(path)
    ? { ...scripted, reasoning: 0 }
    : { ...scripted, cacheWrite5m: 0, cacheWrite1h: 0 };
}

/** Streams of the messages dialect are not part of the interface. */
function isUnsupported({ requested, status = 0 }: Response): boolean {
  return requested.endpoint === "messages" && requested.mode === "streaming" && status >= 400 && status < 500;
}

/** Continues only if the ledger could be read. */
export function assumeRead({ problem }: LedgerReading, verdict: Verdict): void {
  if (problem !== null) verdict.missingFixture(`the ledger ${problem}`, []);
}

/** Continues only if some row belongs to a request: otherwise the description of the ledger may be wrong. */
export function assumeRows({ sent, reading, terms }: LedgerRecording, verdict: Verdict): void {
  const matched = matchRows(identitiesOf(sent), reading.rows);
  if (matched.rows.some((rows) => rows.length > 0) || (terms.merges && reading.rows.length > 0)) return;
  verdict.missingFixture(
    `no ledger row matches a request of this check, ${SETTLE_TIMEOUT_MS / 1_000} s after the last one (${reading.rows.length} rows in this time)`,
    [],
  );
}

/** Continues only if a served request has a row: the others say nothing about tokens and prices. `ledger.charged` judges missing rows. */
export function assumeServedRows(recording: LedgerRecording, verdict: Verdict): void {
  const { rows } = rowsOf(recording);
  const isRecorded = chargedIn(recording).some(({ index }) => (rows[index] ?? []).length > 0);
  verdict.assume(recording.terms.merges || isRecorded, "the ledger has a row for a served request");
}

type Marked = { readonly response: Response; readonly upstream: UpstreamTraffic };

async function send(t: Session, one: Case, tokens: Tokens, key: Key): Promise<Marked> {
  const usage = scriptedUsage(tokens);
  const script = one.script?.(usage) ?? { "*": { usage } };
  const model = modelOf(t, one.dialect, one.model);
  const request = { ...requestOf(one), key, ...(model === null ? {} : { model: { id: model } }) };
  if (one.leaves !== true) return sendMarked(t, request, script);
  const marker = t.upstream.marker();
  await t.upstream.setResponses(marker, script);
  const held = t.start(t.upstream.marked(marker, one.dialect, { ...request, upstreamFails: true }));
  await held.started;
  held.abort();
  const response = await held.done;
  return { response, upstream: await t.upstream.requests(marker) };
}

/** Model that the caller names. */
export function modelOf({ target }: Session, dialect: Dialect, model: string | undefined): string | null {
  return model ?? target.upstream?.models[dialect] ?? target.models[dialect].plain ?? null;
}

/** @param places `header:NAME`, or JSON pointers into the body or an event. */
export function idIn(response: Response, places: readonly string[]): string | null {
  for (const place of places) {
    const found = place.startsWith("header:") ? response.header(place.slice(7)) : inBody(response, place);
    if (isId(found)) return String(found);
  }
  return null;
}

function inBody(response: Response, pointer: string): unknown {
  if (!response.streamed) return atPointer(response.json, pointer);
  return response.stream.events.map(({ json }) => atPointer(json, pointer)).find(isId);
}

const isId = (value: unknown): boolean => (typeof value === "string" && value !== "") || typeof value === "number";

const identitiesOf = (sent: readonly Omit<Sent, "lagMs">[]) =>
  sent.map(({ id, tokens }) => ({ id, input: tokens.input }));

/** The rows of each request, and those of none. */
export function rowsOf({ sent, reading }: LedgerRecording): Matched {
  return matchRows(identitiesOf(sent), reading.rows);
}

/** The caller got a complete reply, and it came from these providers. */
function isCharged({ outcome, response, received }: Pick<Sent, "outcome" | "response" | "received">): boolean {
  return (outcome === "served" || outcome === "retried") && response.admitted && received > 0;
}

/** Some request was served by something else, so sums of all requests cannot be compared. */
export const isPartlyElsewhere = ({ sent }: LedgerRecording): boolean =>
  sent.some(({ response, received }) => response.admitted && received === 0);

/** How many requests without a row may still have one that only an id could match, because their tokens are not known. */
export function unplacedIn({ sent }: LedgerRecording, { rows }: Matched): number {
  return sent.filter(
    ({ outcome, response, received }, index) =>
      (outcome === "uncertain" || (response.admitted && received === 0)) && (rows[index] ?? []).length === 0,
  ).length;
}

/** Whether the rows of these requests can be found by ids alone. */
export function isByIds({ sent, reading }: LedgerRecording, requests: readonly Sent[]): boolean {
  const byId = requestsById(sent);
  return (
    requests.every(({ id }) => id !== null && byId.has(id)) &&
    reading.rows.some(({ requestId }) => requestId !== null && byId.has(requestId))
  );
}

/** Requests that must be charged. */
export function chargedIn({ sent }: LedgerRecording): readonly { readonly one: Sent; readonly index: number }[] {
  return sent.map((one, index) => ({ one, index })).filter(({ one }) => isCharged(one));
}

export const requestsIn = (rows: readonly LedgerRow[]): number => rows.reduce((sum, { requests }) => sum + requests, 0);

/** Cost of rows, micro-dollars; a row without a cost counts as free. */
export const costIn = (rows: readonly LedgerRow[]): number =>
  rows.reduce((sum, { costMicroUsd }) => sum + (costMicroUsd ?? 0), 0);
