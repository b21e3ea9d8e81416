import type { Response, Session } from "../../src/checks/index.ts";
import type { Key } from "../../src/target/index.ts";
import { describeKind, drive, kindsOf } from "./drive.ts";
import type { KeyRecording } from "./key-recording.ts";

/**
 * Requests of every kind with a denied key. A gateway that reserves money for a request denies one that it cannot afford and
 * still serves a cheaper one, and one of several nodes may learn of the denial later than another. So a kind that is still served
 * is repeated until it is denied, too, and then all kinds are sent again.
 */
export async function deniedKinds(t: Session, key: Key, lagS: number): Promise<Pick<KeyRecording, "denied" | "open">> {
  const all = async () => {
    const responses: Response[] = [];
    for (const kind of kindsOf(t)) responses.push(await t.send({ key, ...kind, intent: "denied", repeats: false }));
    return responses;
  };
  const first = await all();
  const served = kindsOf(t).filter((_, at) => first[at]?.admitted === true);
  if (served.length === 0) return { denied: first, open: null };
  for (const kind of served) {
    const { denial, stoppedBecause } = await drive(t, key, kind, lagS);
    if (stoppedBecause !== null)
      return {
        denied: first.filter(({ admitted }) => !admitted),
        open: `${describeKind(kind)}: stopped early, because ${stoppedBecause}`,
      };
    if (denial === null) return { denied: first, open: null };
  }
  // Twice, because the first round may miss a cap that is only enforced most of the time.
  return { denied: [...(await all()), ...(await all())], open: null };
}
