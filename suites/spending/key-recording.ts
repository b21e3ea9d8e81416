import type { Response, Session } from "../../src/checks/index.ts";
import type { Key } from "../../src/target/index.ts";
import type { ExpectedDenial } from "../shared/judge/judge-denial.ts";
import type { Drive, Kind, UsedUpState } from "./drive.ts";
import type { Burst, Overshoot } from "./key-bursts.ts";
import type { Spelled } from "./spelled.ts";

/** A batch of requests that end in failure, and a valid request after it. */
export type FreeBatch = {
  readonly what: string;
  readonly failures: readonly Response[];
  /** The valid request that follows; `null` if another batch is sent first, to spare a key that cannot be replaced. */
  readonly after: Response | null;
  /** What the same number of valid requests alone does to a fresh key, if the key is renewable and `after` was denied. */
  readonly control: Response | null;
};

export type KeyRecording = {
  readonly state: UsedUpState;
  readonly expected: ExpectedDenial;
  /** The key's first valid request: the key must not be used up already. `null` if nothing was sent. */
  readonly before: Response | null;
  readonly batches: readonly FreeBatch[];
  readonly drives: readonly Drive[];
  /** Requests of every kind with the used-up key. */
  readonly denied: readonly Response[];
  /** Why a kind that was still served then is inconclusive; `null` if none was served. */
  readonly open: string | null;
  /** The used-up key in other spellings. */
  readonly spelled: readonly Spelled[];
  /** Requests with another key of the account while the used-up key is denied. */
  readonly sibling: readonly Response[];
  /**
   * The first request with a fresh key of the same state, of the kind that used the first key up; `null` if keys are not
   * renewable.
   */
  readonly fresh: Response | null;
  /** The used-up key, tried once more later. */
  readonly again: Response | null;
  /** Requests served in a concurrent burst on a fresh key; `null` if keys are not renewable. */
  readonly parallel: Overshoot | null;
  /** A burst of short requests on a fresh key, and what happened to the key; `null` if keys are not renewable. */
  readonly burst: Burst | null;
};

/** The recording of an unused key. */
export const NOTHING_SENT = {
  before: null,
  batches: [],
  drives: [],
  denied: [],
  open: null,
  spelled: [],
  sibling: [],
  fresh: null,
  again: null,
  parallel: null,
  burst: null,
} as const;

/** What the steps of the scenario share. */
export interface KeyRun {
  readonly t: Session;
  readonly state: UsedUpState;
  /** The key to use up; `undefined` in a quick run that does not use one up. */
  key: Key | undefined;
  /** Whether fresh keys of its state can be created. */
  readonly isRenewable: boolean;
  /** Whether this scenario tests that failures are free. The budget key is preferred, because its tally does not lag. */
  readonly hasFreeBatches: boolean;
  /** The kind of traffic that uses the key up. */
  own: Kind;
  /** Recorded as `KeyRecording.open`. */
  open: string | null;
}

export const freshKeyOf = ({ t, state }: KeyRun): Promise<Key | undefined> => t.fixtures.freshKey(`key.${state}`);

/** Whether the key that is used up was denied. */
export const isUsedUp = ({ drives: [first] }: KeyRecording): boolean => first !== undefined && first.denial !== null;
