import { type Check, observationOf, responsesIn } from "../../../src/checks/index.ts";

/**
 * A check of limits that is blocked if most complete 2xx responses to its requests were no replies, such as HTML pages: who sends
 * these has admitted nothing, so no limit can be seen in them.
 */
export function amongReplies(check: Check): Check {
  if (check.kind !== "sending") return check;
  return {
    ...check,
    judge(recording, verdict, axes) {
      const ended = responsesIn(recording).map(observationOf);
      const invalid = ended.filter(({ outcome }) => outcome === "invalid");
      const admitted = ended.filter(({ outcome }) => outcome === "admitted");
      verdict.assume(
        invalid.length <= admitted.length,
        `the 2xx responses are replies (${invalid.length} of ${invalid.length + admitted.length} are not: ${invalid[0]?.what})`,
      );
      check.judge(recording, verdict, axes);
    },
  };
}
