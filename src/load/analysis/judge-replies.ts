import { describeFacts } from "../../../reports/text/index.ts";
import { wilson } from "../../core/index.ts";
import { EMPTY_TEXT } from "../../dialects/index.ts";
import { UNREAD } from "../../http/load-client/index.ts";
import { finding } from "../../judging/index.ts";
import type { Finding, JudgedPhase } from "../../record/index.ts";
import { ERROR_IN_STREAM } from "../send/outcome.ts";
import { exchangesOf } from "../tier/observations.ts";
import { type AllowedShares, DEFAULT_ALLOW } from "../workload/workload.ts";

type CountedReplies = Pick<JudgedPhase, "admitted" | "invalidReplies">;

const CONFIDENCE = 0.95;

interface Kind {
  readonly name: string;
  readonly title: string;
  /** How the finding describes these replies. */
  readonly what: string;
  readonly allowed: number;
  readonly replies: JudgedPhase["invalidReplies"];
}

/**
 * Judges the 2xx replies that no client could use. Fails if the 95 % interval of their share lies above the allowed share, so that chance
 * does not explain it. Otherwise warns if there are any.
 *
 * @param prefix of the names of the findings: `load`, or `service` in the phases of a tier.
 */
export function judgeReplies(
  prefix: string,
  { admitted, invalidReplies }: CountedReplies,
  { invalidShare, emptyShare }: Pick<AllowedShares, "invalidShare" | "emptyShare">,
): Finding[] {
  const of = admitted + invalidReplies.reduce((sum, { count }) => sum + count, 0);
  const isEmpty = ({ what }: { readonly what: string }) => what === EMPTY_TEXT;
  const unread = invalidReplies.filter(({ what }) => UNREAD.includes(what));
  const invalid = invalidReplies.filter((one) => !isEmpty(one) && !unread.includes(one));
  const titles = { invalid: "2xx replies are usable", empty: "Replies have text" };
  return [
    judgeShare(of, {
      ...{ name: `${prefix}.invalid`, title: titles.invalid, what: "unusable" },
      ...{ allowed: invalidShare, replies: invalid },
    }),
    judgeShare(of, {
      ...{ name: `${prefix}.empty`, title: titles.empty, what: "empty" },
      ...{ allowed: emptyShare, replies: invalidReplies.filter(isEmpty) },
    }),
    ...unread.map(({ what, count }) =>
      finding({
        name: `${prefix}.unread`,
        title: titles.invalid,
        requirements: [],
        undecided: `${count} of ${of} replies were not checked: ${what}`,
        basis: "content",
      }),
    ),
  ];
}

const REPLY_FINDINGS: readonly string[] = ["load.invalid", "load.empty", "service.invalid", "service.empty"];
const UNREAD_FINDINGS: readonly string[] = ["load.unread", "service.unread"];

/**
 * What a phase reports about its replies if too many of them were unusable, including streams with an error; `undefined`
 * otherwise.
 */
export function unusableReplies({ findings, failures, admitted, invalid }: JudgedPhase): string | undefined {
  const broken = findings.filter(({ outcome, weight }) => outcome === "broken" && weight === "fail");
  const found =
    broken.find(({ name }) => REPLY_FINDINGS.includes(name)) ??
    findings.find(({ name, outcome }) => UNREAD_FINDINGS.includes(name) && outcome === "undecided");
  if (found !== undefined) return describeFacts(found);
  const count = failures.find(({ what }) => what === ERROR_IN_STREAM)?.count ?? 0;
  const of = admitted + invalid + count;
  const isBeyondChance = of > 0 && wilson({ count, of }, CONFIDENCE).low > DEFAULT_ALLOW.invalidShare;
  return isBeyondChance ? `${count} of ${of} 2xx replies were streams with an error` : undefined;
}

function judgeShare(of: number, { name, title, what, allowed, replies }: Kind): Finding {
  const count = replies.reduce((sum, reply) => sum + reply.count, 0);
  if (of === 0)
    return finding({ name, title, requirements: [], undecided: "there were no 2xx replies", basis: "timing" });
  const { low } = wilson({ count, of }, CONFIDENCE);
  const isBeyondChance = count > 0 && low > allowed;
  const kinds = replies.map((reply) => `${reply.count} ${reply.what}`).join(", ");
  const percent = (share: number, digits: number) => `${(share * 100).toFixed(digits)} %`;
  const observed =
    count === 0
      ? `none of ${of} 2xx replies were ${what}`
      : `${count} of ${of} 2xx replies were ${what} (${percent(count / of, 2)}, at least ${percent(low, 2)} with 95 % confidence): ${kinds}`;
  return finding({
    name,
    title,
    // A few invalid replies mean that the service is not steady. More mean that the gateway breaks the promise of a 2xx.
    requirements: isBeyondChance ? ["ERR-200-1", "CHAT-2", "MSG-2"] : ["STEADY-SERVICE"],
    met: count === 0,
    expected: `at most ${percent(allowed, 1)}`,
    observed,
    basis: "content",
    magnitude: count / of,
    weight: isBeyondChance ? "fail" : "warn",
    exchanges: exchangesOf(replies),
  });
}
