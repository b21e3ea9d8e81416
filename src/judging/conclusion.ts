import { countMet, type Finding, type Status } from "../record/index.ts";

/** The result of all findings, and the sentence for it. */
export interface Conclusion {
  readonly status: Status;
  readonly message: string;
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
  if (failing !== undefined) return { status: "fail", message: inWords(failing) + others(broken.length - 1) };
  if (open !== undefined) return open;
  const undecided = findings.filter(({ outcome }) => outcome === "undecided");
  const [first] = undecided;
  if (first !== undefined) {
    const message = `not decided: ${first.name}: ${first.observed}${others(undecided.length - 1)}`;
    return { status: "inconclusive", message };
  }
  const [warning] = broken;
  if (warning !== undefined) return { status: "warn", message: inWords(warning) + others(broken.length - 1) };
  const met = countMet(findings);
  if (met > 0) return { status: "pass", message: `${met} expectations met` };
  return { status: "observed", message: `specification silent; observed: ${findings[0]?.observed ?? "nothing"}` };
}

/** `LIMIT of 64: expected at most 64, got 65`. For something that must not be the case, the note alone says it. */
export function inWords({ name, requirements, note, expected, pointer, observed }: Finding): string {
  const about = note ?? (requirements.includes(name) ? undefined : name);
  if (about !== undefined && pointer === undefined && expected === "false" && observed === "true") return about;
  if (about !== undefined && pointer === undefined && observed === "false" && expected !== "true")
    return `${about}: expected ${expected ?? "otherwise"}`;
  const place = pointer === undefined ? "" : ` at ${pointer}`;
  return `${about === undefined ? "" : `${about}: `}expected ${expected ?? "otherwise"}${place}, got ${observed}`;
}

const others = (count: number): string => (count === 0 ? "" : ` (and ${count} more)`);
