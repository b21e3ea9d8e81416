import { wilson } from "../core/index.ts";
import { EMPTY_TEXT } from "../dialects/index.ts";
import type { Finding, JudgedPhase } from "../record/index.ts";
import { UNREAD } from "./http/load-exchange.ts";
import { compared, undecided } from "./phase-record.ts";
import type { AllowedShares } from "./workload.ts";

type CountedReplies = Pick<JudgedPhase, "admitted" | "invalidReplies">;

const CONFIDENCE = 0.95;

interface Kind {
  readonly name: string;
  readonly title: string;
  /** Of what the share is called in the output. */
  readonly what: string;
  readonly allowed: number;
  readonly replies: JudgedPhase["invalidReplies"];
}

/**
 * Judges the 2xx replies that no client could use. A share whose 95 % interval lies above the allowed one fails: chance does not
 * explain it. A smaller one warns.
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
      undecided(`${prefix}.unread`, titles.invalid, [], `${count} of ${of} replies were ${what} and not read`),
    ),
  ];
}

const REPLY_FINDINGS: readonly string[] = ["load.invalid", "load.empty", "service.invalid", "service.empty"];

/** What a phase says of its unusable replies where there are too many of them; `undefined` where there are not. */
export function unusableReplies({ findings }: Pick<JudgedPhase, "findings">): string | undefined {
  const broken = findings.filter(({ outcome, weight }) => outcome === "broken" && weight === "fail");
  return broken.find(({ name }) => REPLY_FINDINGS.includes(name))?.observed;
}

function judgeShare(of: number, { name, title, what, allowed, replies }: Kind): Finding {
  const count = replies.reduce((sum, reply) => sum + reply.count, 0);
  if (of === 0) return undecided(name, title, [], "there was no 2xx reply");
  const { low } = wilson({ count, of }, CONFIDENCE);
  const isBeyondChance = count > 0 && low > allowed;
  const kinds = replies.map((reply) => `${reply.count} ${reply.what}`).join(", ");
  const percent = (share: number, digits: number) => `${(share * 100).toFixed(digits)} %`;
  const observed =
    count === 0
      ? `none of ${of} 2xx replies ${what}`
      : `${count} of ${of} 2xx replies ${what} (${percent(count / of, 2)}, at least ${percent(low, 2)} with 95 % confidence): ${kinds}`;
  return compared(
    name,
    title,
    // A few stray replies say that the service is not steady; more of them, that the gateway does not do what 2xx promises.
    isBeyondChance ? ["ERR-200-1", "CHAT-2", "MSG-2"] : ["STEADY-SERVICE"],
    count === 0,
    `at most ${percent(allowed, 1)}`,
    observed,
    {
      basis: "content",
      magnitude: count / of,
      weight: isBeyondChance ? "fail" : "warn",
      exchanges: replies.flatMap(({ exchange }) => exchange ?? []).slice(0, 5),
    },
  );
}
