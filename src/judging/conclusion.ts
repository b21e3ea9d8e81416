import { describeBroken, describeOpen, describePass, describeSilence } from "../../reports/text/index.ts";
import { countMet, type Finding, type Status, type UndecidedReason } from "../record/index.ts";

/** The result of all findings, and the sentence for it. */
export interface Conclusion {
  readonly status: Status;
  readonly message: string;
  /** Set if nothing could be decided. */
  readonly reason?: UndecidedReason;
}

/**
 * The result of all findings: a violated MUST first, because it is true whatever else went wrong; then what could not be
 * decided; then a warning. Nothing compared is not a pass.
 *
 * @param open what prevented the judge from deciding more.
 */
export function conclusionOf(findings: readonly Finding[], open?: Conclusion): Conclusion {
  const broken = findings.filter(({ outcome }) => outcome === "broken");
  const failing = broken.find(({ weight }) => weight === "fail");
  if (failing !== undefined) return { status: "fail", message: describeBroken(failing, broken) };
  if (open !== undefined) return open;
  const [undecided, ...more] = findings.filter(({ outcome }) => outcome === "undecided");
  if (undecided !== undefined) {
    const message = describeOpen([undecided, ...more]);
    return { status: "inconclusive", message, ...(undecided.reason === undefined ? {} : { reason: undecided.reason }) };
  }
  const [warning] = broken;
  if (warning !== undefined) return { status: "warn", message: describeBroken(warning, broken) };
  if (countMet(findings) > 0) return { status: "pass", message: describePass(findings) };
  return { status: "observed", message: describeSilence(findings) };
}
