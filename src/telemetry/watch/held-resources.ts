import type { HeldGauge } from "../../load/index.ts";

/** Resources that a process must release. Address space is excluded: runtimes reserve far more than they use. */
const BYTES = /^(?!.*(?:virtual|limit|max|reserved)).*_bytes$/;
const COUNTS = /(?:open_fds|threads|goroutines|active_(?:handles|requests|resources)|connections|sockets)(?:_total)?$/;

/** Whether a gauge, by its name, is a resource that a process holds and can leak. */
export function resourceOf(name: string): Pick<HeldGauge, "unit"> | undefined {
  if (BYTES.test(name)) return { unit: "bytes" };
  return COUNTS.test(name) && !/max/.test(name) ? { unit: "count" } : undefined;
}
