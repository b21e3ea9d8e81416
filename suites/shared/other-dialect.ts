import type { Session } from "../../src/checks/index.ts";
import type { Dialect } from "../../src/dialects/index.ts";

/** The dialect that a session does not usually send in; `undefined` where the target serves one only. */
export function otherDialect({ dialects, dialect }: Session): Dialect | undefined {
  return dialects.find((served) => served !== dialect);
}
