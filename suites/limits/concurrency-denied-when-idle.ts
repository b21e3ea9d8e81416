import { type Check, defineInvariant, type Response } from "../../src/checks/index.ts";
import { isConcurrencyDenial } from "./limit-denials.ts";

/** A slot may come free a moment after the last byte, and a while after its client left: so long, µs. */
const FREED_US = 3_000_000;
const NOTICED_US = 13_000_000;
/** One may be an accident. */
const FEWEST = 2;

const deniedWhenIdle = defineInvariant({
  id: "limits.concurrency-denied-when-idle",
  title: "A request that is alone on its account is not denied for its number",
  covers: ["LIMIT-CONC-4"],
  explains:
    "Looks at every denial concurrency_limit_exceeded on the accounts that the target sets aside for limits. When nothing else of ours was under way there, nor had ended or left in the seconds before, some slot is held by nobody: requests that ended in one way or another, denials for the rate among them, keep theirs.",
  judge(answers, verdict) {
    const own = answers.filter(({ asked }) => asked.account.startsWith("limited."));
    if (own.length === 0) return verdict.notApplicable("the target sets no account aside for limits");
    const taking = own.filter((answer) => !isConcurrencyDenial(answer) && answer.asked.endpoint !== "models");
    const lone = own.filter((answer) => isConcurrencyDenial(answer) && !taking.some((other) => mayHold(other, answer)));
    verdict.must("LIMIT-CONC-4", lone.length < FEWEST, true, {
      in: lone[0] ?? own[0],
      because: `${lone.length} denials for the number of requests, with none under way`,
    });
  },
});

/** Whether a request may still hold a slot of its account when another is denied. */
function mayHold({ asked, exchange }: Response, denied: Response): boolean {
  if (asked.account !== denied.asked.account) return false;
  const { dueUs, endUs } = exchange.timeline;
  const at = denied.exchange.timeline;
  const lingersUs = exchange.ending.kind === "complete" ? FREED_US : NOTICED_US;
  return dueUs <= at.endUs && endUs + lingersUs >= at.dueUs;
}

export const DENIED_WHEN_IDLE: readonly Check[] = [deniedWhenIdle];
