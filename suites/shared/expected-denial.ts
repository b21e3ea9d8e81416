import { readAs, type Session } from "../../src/checks/index.ts";
import { denial, type Reason } from "../../src/requirements/index.ts";
import type { ExpectedDenial } from "./judge-denial.ts";

/** The requirement as this target's contract has it. It goes into the recording, so that the judge needs nothing else. */
export function expectedDenial(t: Session, reason: Reason): ExpectedDenial {
  const { denials, actionHint } = t.target.contract;
  const own = denials?.[reason];
  return {
    reason,
    status: own?.status ?? denial(reason).status,
    readAs: readAs(t.target, reason),
    actionHint: actionHint ?? true,
  };
}
