import type { HeldGauge } from "../../load/index.ts";

/** What a process has to give back. Address space is not among it: runtimes reserve far more than they use. */
const BYTES = /^(?!.*(?:virtual|limit|max|reserved)).*_bytes$/;
const COUNTS = /(?:open_fds|threads|goroutines|active_(?:handles|requests|resources)|connections|sockets)(?:_total)?$/;

/** Whether a gauge says of something that a process holds and can leak, by its name. */
export function resourceOf(name: string): Pick<HeldGauge, "unit"> | undefined {
  if (BYTES.test(name)) return { unit: "bytes" };
  return COUNTS.test(name) && !/max/.test(name) ? { unit: "count" } : undefined;
}
