import { fitBucket } from "./bucket-fit.ts";
import type { Decision, Fit, FitOptions, TimedDecision } from "./decision.ts";
import type { Confidence, Inference } from "./inference.ts";
import { readScopes, type ScopeAnswers } from "./scopes.ts";
import { fitFixed, fitSliding } from "./window-fit.ts";

export type WindowKind = "fixed window" | "clock-aligned window" | "sliding window" | "token bucket" | "paced";

export interface RateInference {
  readonly kind: Inference<WindowKind>;
  /** Requests per minute that are let through for long. */
  readonly perMinute: Inference<number>;
  readonly perMinuteRange: readonly [low: number, high: number] | null;
  /** Requests that are let through at once after a rest. */
  readonly burst: Inference<number>;
  readonly windowS: number | null;
  readonly deniedCount: Inference<"yes" | "no" | "makes no difference">;
  readonly listingCounts: Inference<"yes" | "no">;
  readonly scopes: ScopeAnswers;
  /** Of every model that was tried: how many attempts it leaves unexplained. */
  readonly fits: readonly { readonly kind: string; readonly misses: number }[];
}

export interface InferOptions {
  /** How far a decision may lie from `atUs`, microseconds. */
  readonly slackUs: number;
  /** 60,000,000 outside tests. */
  readonly minuteUs?: number;
  /** Wall clock minus monotonic clock, microseconds. */
  readonly wallOffsetUs: number;
}

/** A model is accepted when it leaves at most this share unexplained. */
const ACCEPTED_SHARE = 0.02;
/** …and when each other one leaves so many more. */
const DECISIVE = 5;
const SURE = 20;
/** Savings of at most so many seconds' worth are an even pace with some tolerance. */
const PACED_S = 2;
/** A window that begins with the clock's minute does so within this, microseconds: clocks of two machines differ. */
const ALIGNED_US = 250_000;

function nothingKnown(why: string): Omit<RateInference, "scopes" | "fits"> {
  return {
    kind: none(why),
    perMinute: none(why),
    perMinuteRange: null,
    burst: none(why),
    windowS: null,
    deniedCount: none(why),
    listingCounts: none(why),
  };
}

/** Tells from timed admissions and denials what kind of limiter decided them. Pure; "cannot tell" is an answer. */
export function inferRate(decisions: readonly Decision[], options: InferOptions): RateInference {
  const known = { minuteUs: 60_000_000, ...options };
  const sorted = [...decisions].sort((a, b) => a.atUs - b.atUs);
  const scopes = readScopes(sorted);
  const candidates = candidatesOf(sorted, scopes, known);
  // Of explanations that are as good the simplest is taken: listing is free, and denied requests are not counted.
  const chosen = candidates.reduce((best, one) => (least(one.fits) < least(best.fits) ? one : best));
  const { attempts, listing } = chosen;
  const [best, second] = [...chosen.fits].sort((a, b) => a.misses - b.misses) as [Fit, Fit];
  const fits = chosen.fits.map(({ kind, misses }) => ({ kind, misses }));
  const denials = attempts.filter(({ admitted }) => !admitted).length;
  const seen = `${attempts.length} requests, ${denials} denied`;
  const unknown = (why: string): RateInference => ({ ...nothingKnown(why), scopes, fits });
  if (denials === 0)
    return unknown(`nothing was denied for the rate in ${seen}; the limit is higher, or there is none`);
  if (admittedAfterDenial(attempts) === 0) return unknown(`nothing was admitted after the first denial (${seen})`);
  const unexplained = chosen.fits.map(({ kind, misses }) => `${NAMES[kind]} leaves ${misses}`).join(", ");
  if (best.misses > attempts.length * ACCEPTED_SHARE + 1) {
    return unknown(
      `no model explains it: of ${seen}, ${unexplained} unexplained; was there other traffic on the account?`,
    );
  }
  const left = `of ${seen}, ${unexplained} unexplained`;
  const lead = second.misses - best.misses;
  const kind: Inference<WindowKind> =
    lead < DECISIVE
      ? none(`two models explain it as well: ${left}`)
      : {
          answer: nameOf(best, known),
          confidence: lead >= SURE ? "high" : "medium",
          evidence: `${left}${edgeEvidence(best, attempts)}`,
        };
  const [low, high] = best.perMinuteRange;
  const width = (high - low) / Math.max(1, best.perMinute);
  const confidence: Confidence =
    kind.answer === null ? "low" : width <= 0.03 ? "high" : width <= 0.1 ? "medium" : "low";
  const upTo = Number.isFinite(high) ? round(high) : "any number";
  const range = `${round(low)} to ${upTo} per minute explain ${seen} as well`;
  const before = `${burstSeen(attempts)} were admitted before the first denial`;
  return {
    kind,
    perMinute: { answer: round(best.perMinute), confidence, evidence: range },
    perMinuteRange: [low, high],
    burst: { answer: burstOf(best, kind.answer), confidence, evidence: before },
    windowS: best.windowUs === undefined ? null : (best.windowUs / known.minuteUs) * 60,
    deniedCount: compareFlag(
      bestOf(candidates, best.kind, { listing, deniedCount: false }),
      bestOf(candidates, best.kind, { listing, deniedCount: true }),
      best.kind === "fixed" ? "makes no difference" : undefined,
    ),
    listingCounts: listingAnswer(sorted, candidates, best.kind, chosen.deniedCount),
    scopes,
    fits,
  };
}

const NAMES = { fixed: "a fixed window", sliding: "a sliding window", bucket: "even refill" } as const;

interface Candidate {
  readonly listing: boolean;
  readonly deniedCount: boolean;
  readonly attempts: readonly TimedDecision[];
  readonly fits: readonly Fit[];
}

/** Every model of a limiter, fitted with and without the listings and with and without counting denied requests. */
function candidatesOf(
  decisions: readonly Decision[],
  scopes: ScopeAnswers,
  { slackUs, minuteUs, wallOffsetUs }: Required<InferOptions>,
): Candidate[] {
  return [false, true].flatMap((listing) => {
    const attempts = attemptsOf(decisions, scopes, listing);
    return [false, true].map((deniedCount) => {
      const options: FitOptions = { slackUs, minuteUs, deniedCount };
      const window = fitFixed(attempts, options, wallOffsetUs);
      const fits = [window, fitSliding(attempts, options), fitBucket(attempts, options)];
      return { listing, deniedCount, attempts, fits };
    });
  });
}

function bestOf(
  candidates: readonly Candidate[],
  kind: Fit["kind"],
  wanted: { readonly listing: boolean; readonly deniedCount: boolean },
): number {
  const found = candidates.find(
    ({ listing, deniedCount }) => listing === wanted.listing && deniedCount === wanted.deniedCount,
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
  if (including >= without + DECISIVE) return { answer: "no", confidence, evidence };
  if (without >= including + DECISIVE) return { answer: "yes", confidence, evidence };
  return same === undefined ? none(evidence) : { answer: same, confidence: "medium", evidence };
}

/** A listing that is denied with the others is limited with them; otherwise it shows in what is left for the others. */
function listingAnswer(
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
    const evidence = `${denied.length} of ${listings.length} listings were denied for the rate (first: request ${denied[0]?.ordinal})`;
    return { answer: "yes", confidence: denied.length >= 3 ? "high" : "medium", evidence };
  }
  const compared = compareFlag<never>(without, including, undefined);
  const evidence = `${listings.length} listings, none denied; ${compared.evidence}`;
  return { ...compared, evidence };
}

/** Requests of one limiter in order; those for which there is another one are left out. */
function attemptsOf(decisions: readonly Decision[], scopes: ScopeAnswers, listing: boolean): TimedDecision[] {
  return decisions
    .filter(({ kind, verdict }) => {
      if (verdict !== "admitted" && verdict !== "rate") return false;
      if (kind === "main") return true;
      if (kind === "listing") return listing;
      return scopes[kind].answer === "shared";
    })
    .map(({ atUs, slackUs, verdict }) => ({ atUs, slackUs, admitted: verdict === "admitted" }));
}

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

/** Where hardly anything is saved up a fraction saved is no request; a bucket's size is a whole number. */
function burstOf({ kind, burst, mostBurst }: Fit, named: WindowKind | null): number {
  if (kind !== "bucket") return burst;
  return Math.max(1, named === "paced" ? Math.floor(mostBurst + 0.001) : Math.round(burst));
}

const least = (fits: readonly Fit[]): number => Math.min(...fits.map(({ misses }) => misses));
const burstSeen = (attempts: readonly TimedDecision[]): number => attempts.findIndex(({ admitted }) => !admitted);
const none = (evidence: string) => ({ answer: null, confidence: "none" as const, evidence });
const round = (value: number): number => (value >= 100 ? Math.round(value * 10) / 10 : Math.round(value * 100) / 100);

function admittedAfterDenial(attempts: readonly TimedDecision[]): number {
  const first = burstSeen(attempts);
  return first === -1 ? 0 : attempts.slice(first).filter(({ admitted }) => admitted).length;
}
