import type { LimitedAccount, RequestSpec, Response, Session } from "../../../src/checks/index.ts";
import type { ExpectedDenial } from "../../shared/judge/judge-denial.ts";
import type { Burst } from "../burst.ts";
import type { OtherAccount } from "../other-accounts.ts";
import type { TestedWait } from "./tested-wait.ts";
import type { WhileDenied } from "./while-denied.ts";

export type RateRecording = {
  readonly limits: { readonly rpm: number; readonly inFlight: number };
  readonly expected: ExpectedDenial;
  /** One key, chat, up to the first denial. */
  readonly first: Burst;
  /** Every other kind of request, while the account was denied. */
  readonly whileDenied: readonly WhileDenied[];
  /** The same a quarter of a minute later, if the denials requested a wait that long. */
  readonly laterDenied: readonly WhileDenied[];
  /** The first key in other spellings, while the account was denied; none in a quick run. */
  readonly spelled: readonly WhileDenied[];
  /** Many concurrent requests, while the account was denied. */
  readonly extraBurst: readonly Response[];
  readonly others: readonly OtherAccount[];
  /** A rate denial after all that; `null` if the account could not be brought to its limit again. */
  readonly denial: Response | null;
  readonly firstWait: TestedWait | null;
  /** The last denial of the second burst. */
  readonly lastDenial: Response | null;
  /** The wait that it stated, with the other key and dialect. */
  readonly secondWait: TestedWait | null;
  /** The wait of another kind of request, if it was much shorter. */
  readonly shortestWait: TestedWait | null;
  /** The other key, messages, as soon as the first wait was over. */
  readonly second: Burst | null;
  /** Bursts of one kind of request that should have reached the limit again and met no denial. */
  readonly undenied: readonly Burst[];
  /** A repetition of the burst that admitted too much, if only one did. */
  readonly third: Burst | null;
  /** Evenly paced requests below the limit, if a burst was denied early. */
  readonly paced: readonly Response[];
};

/** The recording if nothing is sent. */
export const NOTHING_SENT = {
  first: { what: "", responses: [], seconds: 0 },
  whileDenied: [],
  laterDenied: [],
  spelled: [],
  extraBurst: [],
  others: [],
  denial: null,
  firstWait: null,
  lastDenial: null,
  secondWait: null,
  shortestWait: null,
  second: null,
  third: null,
  paced: [],
} as const;

/** What the steps of the scenario share. */
export interface RateRun {
  readonly t: Session;
  readonly account: LimitedAccount;
  readonly limits: LimitedAccount["limits"];
  readonly plan: { readonly most: number; readonly parallel: number };
  /** Requests of the first burst. */
  readonly chat: readonly RequestSpec[];
  /** Requests of the second burst. */
  messages: readonly RequestSpec[];
  /** Every kind of request that must share the count. */
  kinds: Readonly<Record<string, RequestSpec>>;
  /** Requests on other accounts, sent during the extra burst. */
  sendingToOthers?: Promise<OtherAccount[]>;
  readonly undenied: Burst[];
}
