import type { Leak, Status } from "../../../../src/record/index.ts";
import { StatusMark } from "../../parts.tsx";

const STATUS = {
  idle: "pass",
  plateau: "pass",
  recovered: "pass",
  growth: "warn",
} as const satisfies Record<NonNullable<Leak["verdict"]>, Status>;

/** Whether something leaks, as sign, word and colour. */
export function LeakMark({ leak: { verdict } }: { readonly leak: Pick<Leak, "verdict"> }) {
  return <StatusMark status={verdict === null ? "inconclusive" : STATUS[verdict]} label={verdict ?? "not decided"} />;
}
