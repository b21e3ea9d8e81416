import type { HeldRequest, LimitedAccount, RequestSpec, Response, Session } from "../../../src/checks/index.ts";
import type { LimitName } from "../../../src/limits/index.ts";
import type { Limits } from "../../../src/target/index.ts";
import type { ExpectedDenial } from "../../shared/judge/judge-denial.ts";
import type { OtherAccount } from "../other-accounts.ts";
import type { PartialRelease } from "./partial-release.ts";
import type { Wave } from "./release-waves.ts";

export type ConcurrencyRecording = {
  readonly limits: { readonly rpm: number; readonly inFlight: number };
  readonly expected: ExpectedDenial;
  /** Streams up to three times the limit, started together, each on its own connection. */
  readonly burst: readonly Response[];
  /** Whether they were sent evenly, well below the rate, because the rate limiter had denied some concurrent ones. */
  readonly spaced: boolean;
  /** Which limit its 429s without a named limit are about. */
  readonly unnamed: LimitName;
  /** The same for requests after the burst: if the account's rate limit is high enough, their unnamed 429s can only be about concurrency. */
  readonly unnamedLater: LimitName;
  /** A long stream of the other dialect; `null` if there is none. */
  readonly trial: Response | null;
  /** How often streams were sent to fill the limit. */
  readonly fills: number;
  readonly extras: readonly Extra[];
  /** A key in other spellings at the limit; none in a quick run, or if the rate has no room for them. */
  readonly spelled: readonly Extra[];
  readonly extraBurst: readonly Response[];
  /** Requests late in the life of the held streams. */
  readonly late: readonly Response[];
  /** Sent after the first held stream had ended. */
  readonly freed: Response | null;
  /** The streams that filled the limit. */
  readonly held: readonly Response[];
  readonly others: readonly OtherAccount[];
  /** Non-streaming requests, far over the limit, sent together; none if the target has no slow model. */
  readonly nonStreaming: readonly Response[];
  /** Non-streaming requests that filled the limit, and a late one. */
  readonly lateNonStreaming: LateRequest | null;
  /** The same with streams that are silent at first. */
  readonly lateStream: LateRequest | null;
  readonly waves: readonly Wave[];
  /** Attempts in which some streams ended while the rest continued. */
  readonly partialReleases: readonly PartialRelease[];
};

/** Requests of one kind, sent at the concurrency limit. */
export type Extra = { readonly kind: string; readonly responses: readonly Response[] };

/** Requests that filled the limit, and one sent shortly before they ended. */
export type LateRequest = { readonly held: readonly Response[]; readonly extra: Response };

/** The recording if nothing is sent. */
export const NOTHING_SENT = {
  burst: [],
  spaced: false,
  unnamed: "rate",
  unnamedLater: "rate",
  trial: null,
  fills: 0,
  extras: [],
  spelled: [],
  extraBurst: [],
  late: [],
  freed: null,
  held: [],
  others: [],
  nonStreaming: [],
  lateNonStreaming: null,
  lateStream: null,
  waves: [],
  partialReleases: [],
} as const;

/** What the steps of the scenario share. */
export interface ConcurrencyRun {
  readonly t: Session;
  readonly account: LimitedAccount;
  readonly limits: Limits;
  /** A stream that stays in flight for seconds. */
  readonly long: RequestSpec;
  /** The trial, if it was begun during the burst. */
  trying?: Promise<Response | null>;
  /** The streams that fill the limit, and when the first was sent. */
  streams: readonly HeldRequest[];
  startUs: number;
  /** Requests on other accounts, begun when the limit was filled. */
  sendingToOthers?: Promise<OtherAccount[]>;
  /** Sent together with the other extra requests. */
  spelled: readonly Extra[];
}

/** Whether the rate has room for a wave after every cause of release; otherwise only one attempt is affordable. */
export function hasRoomForWaves({ rpm, inFlight }: Limits): boolean {
  return rpm >= 30 * inFlight + 100;
}

/** Requests of the burst beyond the limit. */
export function beyond(limits: Limits): number {
  return hasRoomForWaves(limits) ? limits.inFlight * 2 : Math.min(8, limits.inFlight);
}

/** Pause between requests that are sent at half the account's rate, ms. */
export const evenSpacingMs = ({ rpm }: Limits): number => 120_000 / rpm;

/** The pause that the account needs between requests, ms; 0 if it admits bursts. */
export function spacingMsOf({ spaced, limits }: Pick<ConcurrencyRecording, "spaced" | "limits">): number {
  return spaced ? evenSpacingMs(limits) : 0;
}
