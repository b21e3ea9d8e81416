import { type Check, observationOf, responsesIn } from "../../../src/checks/index.ts";

/**
 * A check of limits that is blocked if most complete 2xx responses are not replies, such as HTML pages: they do not show whether a
 * request was admitted.
 */
export function requireUsableReplies(check: Check): Check {
  if (check.kind !== "sending") return check;
  return {
    ...check,
    judge(recording, verdict, axes) {
      const ended = responsesIn(recording).map(observationOf);
      const invalid = ended.filter(({ outcome }) => outcome === "invalid");
      const admitted = ended.filter(({ outcome }) => outcome === "admitted");
      verdict.assume(
        invalid.length <= admitted.length,
        `most 2xx responses are usable replies (${invalid.length} of ${invalid.length + admitted.length} are not: ${invalid[0]?.what})`,
      );
      check.judge(recording, verdict, axes);
    },
  };
}
