import type { LimitedAccount, RequestSpec, Response, Session } from "../../src/checks/index.ts";

/** Requests of an unrelated account while one account was denied. */
export type OtherAccount = { readonly account: string; readonly responses: readonly Response[] };

/** Between tries, ms: even a limiter without burst admits an idle account's next request by then. */
const SPACING_MS = 250;

export type Meanwhile = {
  /** Tries of each account. */
  readonly tries: number;
  /** Denied anew before every try, where the effect of a denial may be over soon. */
  readonly again?: RequestSpec;
};

/**
 * Tries accounts that have nothing to do with the denied one. The account of `other` is idle and is asked at once; that of
 * `valid` has its own traffic and is asked at its own pace.
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
      if (again !== undefined) await t.start({ ...again, intent: "either" }).done;
      responses.push(await t.start({ key: "other", intent: "either" }).done);
    }
    found.push({ account: "other", responses });
  }
  if (!shared) {
    const responses: Response[] = [];
    for (let count = 0; count < tries; count++)
      responses.push(await t.send({ key: "valid", intent: "either", repeats: false }));
    found.push({ account: "main", responses });
  }
  return found;
}
