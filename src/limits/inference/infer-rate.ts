import { inSlices, type Sliced } from "../../core/index.ts";
import { fitBucket } from "./bucket-fit.ts";
import type { Decision, Fit, FitOptions, RequestKind, TimedDecision } from "./decision.ts";
import type { Confidence, Inference } from "./inference.ts";
import { type Assumed, none, nothingKnown, type RateInference, type WindowKind } from "./rate-inference.ts";
import { reconcile } from "./reconcile.ts";
import { readScopes, type ScopeInferences } from "./scopes.ts";
import { fitFixed, fitSliding } from "./window-fit.ts";

export interface InferOptions {
  /** Maximum distance between a decision and `atUs`, microseconds. */
  readonly slackUs: number;
  /** 60,000,000 outside tests. */
  readonly minuteUs?: number;
  /** Wall clock minus monotonic clock, microseconds. */
  readonly wallOffsetUs: number;
  /** Kinds of requests that the target supports besides the main one. */
  readonly kinds?: readonly RequestKind[];
}

/** A model is accepted if it leaves at most this share unexplained. */
const ACCEPTED_SHARE = 0.02;
/** …and if every other model leaves this many more. */
const DECISIVE = 5;
const SURE = 20;
/** If at most this many seconds' allowance can accumulate, the limiter counts as evenly spaced with some tolerance. */
const PACED_S = 2;
/** A window counts as aligned with the clock's minute within this tolerance, microseconds: clocks of two machines differ. */
const ALIGNED_US = 250_000;

/**
 * Infers the kind of limiter from timed admissions and denials; "cannot tell" is a valid result. Runs in slices: many requests
 * take seconds.
 */
export async function inferRate(
  decisions: readonly Decision[],
  options: InferOptions,
  stop?: AbortSignal,
): Promise<RateInference> {
  const sorted = [...decisions].sort((a, b) => a.atUs - b.atUs);
  const scopes = readScopes(sorted, options.kinds ?? []);
  const inferred = await inSlices(inferSorted(sorted, scopes, { minuteUs: 60_000_000, kinds: [], ...options }), stop);
  return inferred ?? { ...nothingKnown("interrupted before the requests were analysed"), scopes, fits: [] };
}

function* inferSorted(
  sorted: readonly Decision[],
  scopes: ScopeInferences,
  known: Required<InferOptions>,
): Sliced<RateInference> {
  const free = yield* inferAssuming(sorted, scopes, { ...known, othersCount: false });
  if (free.others === 0) return free.rate;
  // A failed request may have been counted before it failed, or never: try both.
  const counted = yield* inferAssuming(sorted, scopes, { ...known, othersCount: true });
  return reconcile({ free, counted });
}

type Assumptions = Required<InferOptions> & Pick<FitOptions, "othersCount">;

function* inferAssuming(sorted: readonly Decision[], scopes: ScopeInferences, known: Assumptions): Sliced<Assumed> {
  const candidates = yield* candidatesOf(sorted, scopes, known);
  // Among equally good explanations, take the simplest: listing is free, and denied requests are not counted.
  const chosen = candidates.reduce((best, one) => (minMisses(one.fits) < minMisses(best.fits) ? one : best));
  const { attempts } = chosen;
  const [best, second] = [...chosen.fits].sort((a, b) => a.misses - b.misses) as [Fit, Fit];
  const fits = chosen.fits.map(({ kind, misses }) => ({ kind, misses }));
  const denials = countOf(attempts, "denied");
  const others = countOf(attempts, "other");
  const seen = `${attempts.length} requests, ${denials} denied${others === 0 ? "" : `, ${others} failed or denied for another reason`}`;
  const unknown = (why: string): Assumed => ({
    rate: { ...nothingKnown(why), scopes, fits },
    misses: best.misses,
    requests: attempts.length,
    others,
  });
  if (denials === 0)
    return unknown(
      `none of ${attempts.length} requests was denied by the rate limit${others === 0 ? "" : ` (${others} failed or were denied for another reason)`}; the limit is higher, or there is none`,
    );
  if (admittedAfterDenial(attempts) === 0) return unknown(`nothing was admitted after the first denial (${seen})`);
  const unexplained = chosen.fits.map(({ kind, misses }) => `${NAMES[kind]} leaves ${misses}`).join(", ");
  if (best.misses > attempts.length * ACCEPTED_SHARE + 1) {
    return unknown(
      `no model explains it: of ${seen}, ${unexplained} unexplained; was there other traffic on the account?`,
    );
  }
  const left = `of ${seen}, ${unexplained} unexplained`;
  const rate = { ...figuresOf(best, second, { left, seen, attempts, known }), scopes, fits };
  return {
    rate: { ...rate, ...countingInferences(sorted, candidates, best, chosen) },
    misses: best.misses,
    requests: attempts.length,
    others,
  };
}

interface Seen {
  readonly left: string;
  readonly seen: string;
  readonly attempts: readonly TimedDecision[];
  readonly known: Assumptions;
}

/** Kind, rate and burst of the best model. */
function figuresOf(
  best: Fit,
  second: Fit,
  { left, seen, attempts, known }: Seen,
): Pick<RateInference, "kind" | "perMinute" | "perMinuteRange" | "burst" | "windowS"> {
  const lead = second.misses - best.misses;
  const kind: Inference<WindowKind> =
    lead < DECISIVE
      ? none(`two models explain it as well: ${left}`)
      : {
          value: nameOf(best, known),
          confidence: lead >= SURE ? "high" : "medium",
          evidence: `${left}${edgeEvidence(best, attempts)}`,
        };
  const [low, high] = best.perMinuteRange;
  const width = (high - low) / Math.max(1, best.perMinute);
  const confidence: Confidence = kind.value === null ? "low" : width <= 0.03 ? "high" : width <= 0.1 ? "medium" : "low";
  const upTo = Number.isFinite(high) ? round(high) : "any number";
  const range = `${round(low)} to ${upTo} per minute explain ${seen} as well`;
  const before = `${admittedBeforeDenial(attempts)} were admitted before the first denial`;
  return {
    kind,
    perMinute: { value: round(best.perMinute), confidence, evidence: range },
    perMinuteRange: [low, high],
    burst: { value: burstOf(best, kind.value), confidence, evidence: before },
    windowS: best.windowUs === undefined ? null : (best.windowUs / known.minuteUs) * 60,
  };
}

/** Whether denied requests and listings are counted. */
function countingInferences(
  sorted: readonly Decision[],
  candidates: readonly Candidate[],
  best: Fit,
  { listing, deniedCount }: Candidate,
): Pick<RateInference, "deniedCount" | "listingCounts"> {
  return {
    deniedCount: compareFlag(
      bestOf(candidates, best.kind, { listing, deniedCount: false }),
      bestOf(candidates, best.kind, { listing, deniedCount: true }),
      best.kind === "fixed" ? "makes no difference" : undefined,
    ),
    listingCounts: inferListing(sorted, candidates, best.kind, deniedCount),
  };
}

const NAMES = { fixed: "a fixed window", sliding: "a sliding window", bucket: "even refill" } as const;

interface Candidate {
  readonly listing: boolean;
  readonly deniedCount: boolean;
  readonly attempts: readonly TimedDecision[];
  readonly fits: readonly Fit[];
}

/** Every model of a limiter, fitted with and without listings, and with and without counting denied requests. */
function* candidatesOf(
  decisions: readonly Decision[],
  scopes: ScopeInferences,
  { slackUs, minuteUs, wallOffsetUs, othersCount }: Assumptions,
): Sliced<Candidate[]> {
  const candidates: Candidate[] = [];
  for (const listing of [false, true]) {
    const attempts = attemptsOf(decisions, scopes, listing);
    for (const deniedCount of [false, true]) {
      const options: FitOptions = { slackUs, minuteUs, deniedCount, othersCount };
      const fixed = yield* fitFixed(attempts, options, wallOffsetUs);
      const sliding = yield* fitSliding(attempts, options);
      const bucket = yield* fitBucket(attempts, options);
      candidates.push({ listing, deniedCount, attempts, fits: [fixed, sliding, bucket] });
    }
  }
  return candidates;
}

function bestOf(
  candidates: readonly Candidate[],
  kind: Fit["kind"],
  expected: { readonly listing: boolean; readonly deniedCount: boolean },
): number {
  const found = candidates.find(
    ({ listing, deniedCount }) => listing === expected.listing && deniedCount === expected.deniedCount,
  );
  return found?.fits.find((fit) => fit.kind === kind)?.misses ?? 0;
}

function compareFlag<T extends string>(
  without: number,
  including: number,
  same: T | undefined,
): Inference<T | "yes" | "no"> {
  const evidence = `with them counted ${including} requests are unexplained, without ${without}`;
  const confidence: Confidence = Math.abs(without - including) >= SURE ? "high" : "medium";
  if (including >= without + DECISIVE) return { value: "no", confidence, evidence };
  if (without >= including + DECISIVE) return { value: "yes", confidence, evidence };
  return same === undefined ? none(evidence) : { value: same, confidence: "medium", evidence };
}

/** A listing that is denied together with the others shares their limit; otherwise, it shows in what remains for the others. */
function inferListing(
  decisions: readonly Decision[],
  candidates: readonly Candidate[],
  kind: Fit["kind"],
  deniedCount: boolean,
): RateInference["listingCounts"] {
  const listings = decisions.filter(({ kind }) => kind === "listing");
  if (listings.length === 0) return none("no listing was sent");
  const denied = listings.filter(({ verdict }) => verdict === "rate");
  const without = bestOf(candidates, kind, { listing: false, deniedCount });
  const including = bestOf(candidates, kind, { listing: true, deniedCount });
  if (denied.length > 0) {
    const evidence = `${denied.length} of ${listings.length} listings were denied by the rate limit (first: request ${denied[0]?.ordinal})`;
    return { value: "yes", confidence: denied.length >= 3 ? "high" : "medium", evidence };
  }
  const compared = compareFlag<never>(without, including, undefined);
  const evidence = `${listings.length} listings, none denied; ${compared.evidence}`;
  return { ...compared, evidence };
}

/** Requests of one limiter in order, without those that have a separate one. */
function attemptsOf(decisions: readonly Decision[], scopes: ScopeInferences, listing: boolean): TimedDecision[] {
  return decisions
    .filter(({ kind }) => {
      if (kind === "main") return true;
      if (kind === "listing") return listing;
      return scopes[kind].value === "shared";
    })
    .map(({ atUs, slackUs, verdict }) => ({ atUs, slackUs, verdict: MODEL_VERDICTS[verdict] }));
}

const MODEL_VERDICTS = { admitted: "admitted", rate: "denied", concurrency: "other", failed: "other" } as const;

function nameOf(
  { kind, burst, perMinute, edgeUs = 0, edgeSlackUs = 0, windowUs = 0 }: Fit,
  { minuteUs, wallOffsetUs, slackUs }: Required<InferOptions>,
): WindowKind {
  if (kind === "sliding") return "sliding window";
  if (kind === "bucket") return burst <= (perMinute / 60) * PACED_S + 1 ? "paced" : "token bucket";
  const intoUs = (((edgeUs + wallOffsetUs) % windowUs) + windowUs) % windowUs;
  const offUs = Math.min(intoUs, windowUs - intoUs);
  const toleratedUs = edgeSlackUs + slackUs + ALIGNED_US * (minuteUs / 60_000_000);
  return windowUs === minuteUs && offUs <= toleratedUs ? "clock-aligned window" : "fixed window";
}

function edgeEvidence({ kind, edgeUs, edgeSlackUs = 0 }: Fit, attempts: readonly TimedDecision[]): string {
  if (kind !== "fixed" || edgeUs === undefined) return "";
  const atS = (edgeUs - (attempts[0]?.atUs ?? 0)) / 1_000_000;
  return `; a window began ${atS.toFixed(2)} s after the first request, give or take ${(edgeSlackUs / 1_000_000).toFixed(2)} s`;
}

/** With almost no savings, a saved fraction is not a request; a bucket's size is an integer. */
function burstOf({ kind, burst, mostBurst }: Fit, named: WindowKind | null): number {
  if (kind !== "bucket") return burst;
  return Math.max(1, named === "paced" ? Math.floor(mostBurst + 0.001) : Math.round(burst));
}

const minMisses = (fits: readonly Fit[]): number => Math.min(...fits.map(({ misses }) => misses));
const countOf = (attempts: readonly TimedDecision[], kind: TimedDecision["verdict"]): number =>
  attempts.filter(({ verdict }) => verdict === kind).length;
const round = (value: number): number => (value >= 100 ? Math.round(value * 10) / 10 : Math.round(value * 100) / 100);

const firstDenial = (attempts: readonly TimedDecision[]): number =>
  attempts.findIndex(({ verdict }) => verdict === "denied");
const admittedBeforeDenial = (attempts: readonly TimedDecision[]): number =>
  countOf(attempts.slice(0, firstDenial(attempts)), "admitted");

function admittedAfterDenial(attempts: readonly TimedDecision[]): number {
  const first = firstDenial(attempts);
  return first === -1 ? 0 : countOf(attempts.slice(first), "admitted");
}
