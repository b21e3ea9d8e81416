import type { LimitedAccount, RequestSpec, Response, Session } from "../../src/checks/index.ts";

/** Requests on an unrelated account while one account was denied. */
export type OtherAccount = { readonly account: string; readonly responses: readonly Response[] };

/** Time between attempts, ms: even a limiter without burst admits an idle account's next request after this. */
const SPACING_MS = 250;

export type Meanwhile = {
  /** Attempts per account. */
  readonly tries: number;
  /** Sent before each attempt, to provoke a new denial in case the previous one no longer applies. */
  readonly again?: RequestSpec;
};

/**
 * Sends on accounts that are unrelated to the denied one. The account of `other` is idle and is used immediately; that of
 * `valid` has its own traffic and is used at its own rate.
 */
export async function sendToOtherAccounts(
  t: Session,
  { shared }: LimitedAccount,
  { tries, again }: Meanwhile,
): Promise<OtherAccount[]> {
  const found: OtherAccount[] = [];
  if (t.target.keys.other !== undefined) {
    const responses: Response[] = [];
    for (let count = 0; count < tries; count++) {
      if (count > 0) await t.wait(SPACING_MS);
      if (again !== undefined) await t.start({ ...again, intent: "any" }).done;
      responses.push(await t.start({ key: "other", intent: "any" }).done);
    }
    found.push({ account: "other", responses });
  }
  if (!shared) {
    const responses: Response[] = [];
    for (let count = 0; count < tries; count++)
      responses.push(await t.send({ key: "valid", intent: "any", repeats: false }));
    found.push({ account: "main", responses });
  }
  return found;
}
