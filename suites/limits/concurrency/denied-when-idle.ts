import { type Check, defineInvariant, type Response } from "../../../src/checks/index.ts";
import { isConcurrencyDenial } from "../denials.ts";

/** A request may be counted for a moment after its last byte, and longer after its client disconnected, µs. */
const FREED_US = 3_000_000;
const NOTICED_US = 13_000_000;
/** A single one may be an accident. */
const FEWEST = 2;

const deniedWhenIdle = defineInvariant({
  id: "limits.concurrency-denied-when-idle",
  title: "A request is not denied by the concurrency limit while nothing else is in flight",
  covers: ["LIMIT-CONC-4"],
  countsRequests: true,
  explains:
    "Checks every concurrency_limit_exceeded denial on the accounts that the target sets aside for limits. Where no other request of the run was in flight on the account, or had ended or been aborted in the seconds before, the gateway still counts requests that are over: they ended in a way that it does not count down, or were denied by the rate limit.",
  judge(responses, verdict) {
    const own = responses.filter(({ requested }) => requested.account.startsWith("limited."));
    if (own.length === 0) return verdict.notApplicable("the target sets no account aside for limits");
    const taking = own.filter((response) => !isConcurrencyDenial(response) && response.requested.endpoint !== "models");
    const lone = own.filter(
      (response) => isConcurrencyDenial(response) && !taking.some((other) => mayHold(other, response)),
    );
    verdict.must("LIMIT-CONC-4", lone.length >= FEWEST, false, {
      in: lone[0] ?? own[0],
      because: `${lone.length} concurrency denials with no request in flight`,
    });
  },
});

/** Whether a request may still have counted on its account when another was denied. */
function mayHold({ requested, exchange }: Response, denied: Response): boolean {
  if (requested.account !== denied.requested.account) return false;
  const { dueUs, endUs } = exchange.timeline;
  const at = denied.exchange.timeline;
  const lingersUs = exchange.ending.kind === "complete" ? FREED_US : NOTICED_US;
  return dueUs <= at.endUs && endUs + lingersUs >= at.dueUs;
}

export const DENIED_WHEN_IDLE: readonly Check[] = [deniedWhenIdle];
