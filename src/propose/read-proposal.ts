import { Response, readingRules } from "../checks/index.ts";
import { groupBy } from "../core/index.ts";
import { readAs } from "../judging/index.ts";
import { DENIALS } from "../requirements/index.ts";
import type { Target } from "../target/index.ts";
import type { DenialSample } from "./denial-sample.ts";
import { evidenceOf } from "./propose-contract.ts";
import { isShownOften } from "./telling-message.ts";

/** How a proposal reads one recorded denial. */
export interface ReadDenial {
  readonly sample: DenialSample;
  /** The reason of the specification that it is read as; `undefined` for none. */
  readonly readAs: string | undefined;
  /** Whether this is correct; for a rejected body, whether it is not read as a denial. */
  readonly isRight: boolean;
}

/** Reads the recorded denials with a proposed target file, as a run would. */
export function readByProposal(samples: readonly DenialSample[], target: Target): ReadDenial[] {
  const rules = readingRules(target);
  return samples.map((sample) => {
    const { status, reason } = new Response(sample.response.exchange, sample.response.requested, rules);
    const read = DENIALS.find((denial) => denial.reason === reason)?.reason;
    const own = sample.reason;
    if (own === undefined) return { sample, readAs: read, isRight: read === undefined };
    const expected = target.contract.denials?.[own]?.status ?? DENIALS.find((denial) => denial.reason === own)?.status;
    return { sample, readAs: read, isRight: read === readAs(target.contract, own) && status === expected };
  });
}

/** Denials of a proposal that a recorded denial of another kind is read as. */
export function misreadAs(read: readonly ReadDenial[]): string[] {
  return [...new Set(read.flatMap((one) => (one.isRight || one.readAs === undefined ? [] : [one.readAs])))];
}

/** What the proposal recognises, and each denial that it does not, with the observation and the reason. */
export function readingRemarks(read: readonly ReadDenial[]): string[] {
  const denials = read.filter(({ sample }) => sample.reason !== undefined);
  if (denials.length === 0) return [];
  const right = denials.filter(({ isRight }) => isRight);
  const kinds = [...new Set(right.map(({ sample }) => sample.reason))].join(", ");
  const unread = groupBy(
    read.filter(({ isRight }) => !isRight),
    ({ sample, readAs: as }) => `${sample.reason} ${sample.kind} ${as}`,
  );
  return [
    `This file recognizes ${right.length} of ${denials.length} recorded denials${kinds === "" ? "" : ` (${kinds})`}.`,
    ...[...unread.values()].map((group) => unreadRemark(group, read)),
  ];
}

function unreadRemark([first, ...others]: readonly ReadDenial[], read: readonly ReadDenial[]): string {
  if (first === undefined) return "";
  const { sample, readAs: as } = first;
  const own = read.map((one) => one.sample).filter(({ reason }) => reason === sample.reason);
  const why = isShownOften(own)
    ? "Found no text that all of its responses share and no other response contains."
    : `Its text may name the key, and only one key was denied this way: ${ANOTHER_KEY[sample.reason ?? ""] ?? "make another one with a provision hook"}.`;
  const name = sample.reason ?? "A refused body, which is not a denial,";
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return `${name} is ${as === undefined ? "not read" : `read as ${as}`}: ${evidenceOf(sample)}${more}. ${why}`;
}

/** Where the target file can declare a second key that shows a denial. */
const ANOTHER_KEY: Readonly<Record<string, string>> = {
  insufficient_credits: "set keys.emptySecond",
  rate_limit_exceeded: "set second of the account under limited",
  concurrency_limit_exceeded: "set second of the account under limited",
};
