import type { RequestSpec, Response, Session } from "../../src/checks/index.ts";
import type { Key } from "../../src/target/index.ts";
import { spellingsOf } from "../shared/cases/spellings.ts";
import { nonexistentKey } from "../shared/requests/fabricated-key.ts";
import type { Kind } from "./drive.ts";

/** A request with a used-up key in another spelling. */
export type Spelled = {
  readonly spelling: string;
  readonly first: Response;
  /** If the first was served: more of them, once the tally has had time to catch up. */
  readonly later: readonly Response[];
  /** The key in its usual spelling after those; `null` if there were none. */
  readonly usual: Response | null;
  /**
   * If the first was served: a key that does not exist, in the same spelling. If it is served too, the spelling is not the
   * reason.
   */
  readonly nonexistent: Response | null;
};

const TRIES = 3;

/**
 * Sends a used-up key in other spellings. One that is served is tried again once the tally has had time to catch up, and not
 * in between: that would use up a tally that is kept per spelling.
 */
export async function sendSpelled(t: Session, key: Key, { endpoint, mode }: Kind, lagS: number): Promise<Spelled[]> {
  const own: RequestSpec = { endpoint, mode, intent: "denied", repeats: false };
  const entries: { spelling: string; request: RequestSpec; first: Response }[] = [];
  for (const [spelling, spelled] of Object.entries(spellingsOf(key))) {
    const request = { ...own, ...spelled };
    entries.push({ spelling, request, first: await t.send(request) });
  }
  if (entries.some(({ first }) => first.admitted)) await t.wait(lagS * 1_000, "charges to be settled");
  const ofNonexistent = spellingsOf(nonexistentKey(t));
  const all: Spelled[] = [];
  for (const { spelling, request, first } of entries) {
    const later: Response[] = [];
    for (let count = 0; first.admitted && count < TRIES; count++) later.push(await t.send(request));
    const usual = first.admitted ? await t.send({ ...own, key }) : null;
    const nonexistent = first.admitted ? await t.send({ ...own, ...ofNonexistent[spelling] }) : null;
    all.push({ spelling, first, later, usual, nonexistent });
  }
  return all;
}
