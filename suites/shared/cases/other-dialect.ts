import type { Session } from "../../../src/checks/index.ts";
import type { Dialect } from "../../../src/dialects/index.ts";

/** The dialect that a session does not usually use; `undefined` if the target serves only one. */
export function otherDialect({ target: { dialects }, dialect }: Session): Dialect | undefined {
  return dialects.find((served) => served !== dialect);
}
