import type { Session } from "../../../src/checks/index.ts";
import { readAs, statusOfDenial } from "../../../src/judging/index.ts";
import type { Reason } from "../../../src/requirements/index.ts";
import type { ExpectedDenial } from "./judge-denial.ts";

/** The requirement according to this target's contract. It is stored in the recording, so that the judge needs nothing else. */
export function expectedDenial(t: Session, reason: Reason): ExpectedDenial {
  const { contract } = t.target;
  return {
    reason,
    status: statusOfDenial(contract, reason),
    readAs: readAs(contract, reason),
    actionHint: contract.actionHint ?? true,
  };
}
