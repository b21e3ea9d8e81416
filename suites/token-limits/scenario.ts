import {
  defineScenario,
  type RequestSpec,
  type Response,
  type Session,
  scheduleOn,
  tokenLimitedFor,
} from "../../src/checks/index.ts";
import type { Dialect } from "../../src/dialects/index.ts";
import type { Key, TokenLimits } from "../../src/target/index.ts";
import { burst } from "../limits/burst.ts";
import { isRateDenial, isRefused, isServed } from "../limits/denials.ts";
import { paced, untilQuiet } from "../limits/paced.ts";
import { type TestedWait, waitAndRetry } from "../limits/rate/tested-wait.ts";
import { atOnce as sendAll } from "../limits/send.ts";
import { spellingsOf } from "../shared/cases/spellings.ts";
import { expectedDenial } from "../shared/judge/expected-denial.ts";
import type { ExpectedDenial } from "../shared/judge/judge-denial.ts";
import { exceedsTokens, isEarly, type Part, type TokensAsDeclared } from "./part.ts";
import { probeSize, requestOf, type Size, sizeOf, spendOf } from "./size.ts";

/** Requests of one kind while the account was denied by its token limit, between two denials of the first kind. */
export type TriedWhileDenied = {
  readonly kind: string;
  readonly before: Response;
  readonly tries: readonly Response[];
  readonly after: Response;
};

export type TokenRecording = {
  readonly tokens: TokensAsDeclared;
  readonly expected: ExpectedDenial;
  /** One small request in each dialect. */
  readonly probes: Part;
  /** Concurrent requests, up to twice the limit; repeated if more was admitted than the limit allows. */
  readonly atOnce: readonly Part[];
  readonly whileDenied: readonly TriedWhileDenied[];
  readonly wait: TestedWait | null;
  /** Sequential requests until the first denial; repeated likewise. */
  readonly inARow: readonly Part[];
  /** Requests evenly spaced over a minute, if the sequential ones were denied early. */
  readonly evenly: Part | null;
};

/** Sizes of requests, as shares of the limit. */
const AT_ONCE_SHARE = 1 / 4;
/** Share of the limit that a single request may take and certainly be admitted. */
const LARGEST_SHARE = 0.6;
const IN_A_ROW_SHARE = 1 / 8;
const EVENLY_SHARE = 1 / 24;
/** Share of the limit at which evenly spaced requests must be admitted. */
const SAFE_SHARE = 0.7;
/** How much of the limit is sent concurrently and sequentially: more than any window admits. */
const MORE_THAN_ANY = 2;
const MAX_AT_ONCE = 24;
const MAX_IN_A_ROW = 48;
/**
 * All concurrent requests may have been admitted, if their usage is counted later; and reserved tokens are released if replies use
 * less. Up to this many more requests may therefore be admitted before the limit is reached.
 */
const MAX_MORE = 8;
/** Shares of the request rate that are used: a denial must not be about the rate. */
const RPM_AT_ONCE = 0.3;
const RPM_MORE = 0.15;
const RPM_IN_A_ROW = 0.9;
/** The concurrency limit that is assumed if the target file states none. */
const UNKNOWN_IN_FLIGHT = 16;
const TRIES = 2;
/** The key in other spellings is only tested if these requests are a small share of the rate. */
const MIN_RPM_SPELLED = 100;

/**
 * Two minutes on the account with the token limit, for all its checks: concurrent requests after a quiet period, other kinds of
 * requests while it is denied, the wait that a denial asks for, and sequential requests after a quiet period.
 */
export const tokenScenario = defineScenario({
  id: "token-limits.tokens",
  needs: ["tokenLimits"],
  schedule: (target) => scheduleOn(tokenLimitedFor(target)),
  cost: { requests: 92, waitS: 125 },
  reaches: "tokens",
  async run(t): Promise<TokenRecording> {
    const { key, limits, tokens } = t.tokenLimited();
    await quiet(t);
    const probes = await probe(t, key, probeSize(tokens));
    const recording = {
      ...NOTHING_ELSE,
      tokens: declared(tokens),
      expected: expectedDenial(t, "rate_limit_exceeded"),
      probes,
    };
    if (probes.responses.some((response) => spendOf(response, tokens.counts, 0) === undefined)) return recording;
    const run: TokenRun = {
      t,
      tokens: recording.tokens,
      key,
      probes: new Map(t.target.dialects.map((dialect, at) => [dialect, probes.responses[at] as Response])),
      inFlight: limits?.inFlight ?? UNKNOWN_IN_FLIGHT,
      rpm: limits?.rpm ?? Number.POSITIVE_INFINITY,
    };
    const first = await sendAtOnce(run);
    const denied = await sendWhileDenied(run);
    await quiet(t);
    const inARow = await twiceIfExceeded(run, await sendInARow(run), () => sendInARow(run));
    // Unless the target file states what requests in flight may take, an excess proves nothing.
    const isJudged = tokens.inFlightTokens !== undefined;
    const atOnce = isJudged ? await twiceIfExceeded(run, first, () => sendAtOnce(run)) : [first];
    const evenly = isEarly(inARow[0], recording.tokens) ? await sendEvenly(run) : null;
    return { ...recording, ...denied, atOnce, inARow, evenly };
  },
  assume({ tokens, probes }, verdict) {
    const refused = probes.responses.find((response) => !isServed(response));
    if (refused !== undefined) verdict.inconclusive(`a first small request was not served: ${refused.summary}`);
    const spends = probes.responses.map((response) => spendOf(response, tokens.counts, probes.maxTokens));
    if (spends.includes(undefined))
      verdict.inconclusive("replies state no token counts, so usage of the limit cannot be computed");
    const most = Math.max(...spends.map((spend) => spend?.most ?? 0));
    if (most > tokens.tokensPerMinute * IN_A_ROW_SHARE)
      verdict.inconclusive(
        `a small request already takes ${most} tokens: a limit of ${tokens.tokensPerMinute} per minute is too small to be tested`,
      );
  },
});

const NOTHING_ELSE = { atOnce: [], whileDenied: [], wait: null, inARow: [], evenly: null } as const;

/** State shared by the steps. */
interface TokenRun {
  readonly t: Session;
  readonly key: Key;
  readonly tokens: TokensAsDeclared;
  readonly probes: ReadonlyMap<Dialect, Response>;
  readonly inFlight: number;
  readonly rpm: number;
}

/** The declaration without its key: recordings are stored. */
function declared({ key: _, window, inFlightTokens, ...tokens }: TokenLimits): TokensAsDeclared {
  return { ...tokens, window: window ?? null, inFlightTokens: inFlightTokens ?? null };
}

const quiet = (t: Session): Promise<void> => untilQuiet(t, t.tokenLimited().key);

/** One small request in each dialect; a minute later if traffic before the run has used up the limit. */
async function probe(t: Session, key: Key, size: Size): Promise<Part> {
  const startUs = t.nowUs();
  const responses: Response[] = [];
  for (const dialect of t.target.dialects) {
    let response = await t.start(await requestOf(t, key, dialect, size)).done;
    if (isRateDenial(response)) {
      await quiet(t);
      response = await t.start(await requestOf(t, key, dialect, size)).done;
    }
    responses.push(response);
  }
  return { responses, ...size, seconds: (t.nowUs() - startUs) / 1_000_000 };
}

/** Requests with a share of the limit each; the dialects take turns. */
async function requestsOf(
  { t, key, tokens, probes }: TokenRun,
  share: number,
  howMany: (size: Size) => number,
): Promise<{ readonly specs: readonly RequestSpec[]; readonly size: Size }> {
  const sizes = [...probes].map(
    ([dialect, probe]) => [dialect, sizeOf(tokens.tokensPerMinute * share, probe, tokens)] as const,
  );
  const least = Math.max(1, Math.min(...sizes.map(([, size]) => size.least)));
  const [, first] = sizes[0] as (typeof sizes)[number];
  const size = { ...first, least };
  const specs: RequestSpec[] = [];
  for (let at = 0; at < Math.max(1, Math.floor(howMany(size))); at++) {
    const [dialect, own] = sizes[at % sizes.length] as (typeof sizes)[number];
    specs.push(await requestOf(t, key, dialect, own));
  }
  return { specs, size };
}

async function sendAtOnce(run: TokenRun): Promise<Part> {
  const { t, tokens, inFlight, rpm } = run;
  const requested = tokens.tokensPerMinute * MORE_THAN_ANY;
  const most = Math.min(inFlight, MAX_AT_ONCE, rpm * RPM_AT_ONCE);
  const share = Math.min(LARGEST_SHARE, Math.max(AT_ONCE_SHARE, MORE_THAN_ANY / most));
  const { specs, size } = await requestsOf(run, share, ({ least }) => Math.min(most, Math.ceil(requested / least)));
  const startUs = t.nowUs();
  const responses = await sendAll(t, specs, specs.length);
  return { responses, ...size, seconds: (t.nowUs() - startUs) / 1_000_000 };
}

async function sendInARow(run: TokenRun): Promise<Part> {
  const { t, tokens, rpm } = run;
  const beyond = tokens.inFlightTokens ?? 0;
  const requested = tokens.tokensPerMinute * (MORE_THAN_ANY + 2 * IN_A_ROW_SHARE) + beyond;
  const { specs, size } = await requestsOf(run, IN_A_ROW_SHARE, ({ least }) =>
    Math.min(Math.ceil(requested / least), MAX_IN_A_ROW, rpm * RPM_IN_A_ROW),
  );
  const sent = await burst(t, { what: "in a row", specs, most: specs.length, parallel: 1 });
  return { responses: sent.responses, ...size, seconds: sent.seconds };
}

/** Repeats what admitted too much: the boundary of a fixed window explains it once. */
async function twiceIfExceeded({ t, tokens }: TokenRun, first: Part, again: () => Promise<Part>): Promise<Part[]> {
  if (!exceedsTokens(first, tokens)) return [first];
  await quiet(t);
  return [first, await again()];
}

/**
 * Requests evenly spaced over a minute, after a quiet one, well below the limit: a limiter with little burst must admit these.
 */
async function sendEvenly(run: TokenRun): Promise<Part> {
  const perMinute = SAFE_SHARE / EVENLY_SHARE;
  const { specs, size } = await requestsOf(run, EVENLY_SHARE, () => perMinute);
  const responses = await paced(run.t, specs, perMinute);
  return { responses, ...size, seconds: 60 };
}

/**
 * Other kinds of requests while the account is denied, as large as the denied one; then the wait that the last denial asks for.
 */
async function sendWhileDenied(run: TokenRun): Promise<Pick<TokenRecording, "whileDenied" | "wait">> {
  const { t, rpm } = run;
  const of = async (change: Partial<RequestSpec>) => {
    const { specs } = await requestsOf(run, AT_ONCE_SHARE, () => run.probes.size);
    const spec = specs.find(({ endpoint }) => endpoint === (change.endpoint ?? t.target.dialects[0])) as RequestSpec;
    return { ...spec, ...change };
  };
  const most = Math.min(MAX_MORE, Math.floor(rpm * RPM_MORE));
  const more = await burst(t, { what: "to the limit", specs: [await of({})], most, parallel: 1 });
  let before = more.responses.at(-1);
  if (before === undefined || !isRefused(before)) return { whileDenied: [], wait: null };
  const kinds: readonly (readonly [string, Partial<RequestSpec>])[] = t.target.dialects.flatMap((endpoint) =>
    (["non-streaming", "streaming"] as const).map((mode) => [`${endpoint}, ${mode}`, { endpoint, mode }] as const),
  );
  const spelled = rpm < MIN_RPM_SPELLED ? [] : Object.entries(spellingsOf(run.key));
  const whileDenied: TriedWhileDenied[] = [];
  // The first kind is sent before and after each of the others.
  for (const [kind, change] of [...kinds.slice(1), ...spelled]) {
    const tries: Response[] = [];
    for (let count = 0; count < TRIES; count++) tries.push(await t.start(await of(change)).done);
    const after = await t.start(await of({})).done;
    whileDenied.push({ kind, before, tries, after });
    before = after;
  }
  return { whileDenied, wait: isRateDenial(before) ? await waitAndRetry(t, before, await of({})) : null };
}
