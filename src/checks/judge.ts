import { messageOf } from "../core/index.ts";
import type { Attestation, CheckResult, Finding, Status } from "../record/index.ts";
import type { Axes } from "./axes.ts";
import type { Instance } from "./check.ts";
import { suiteOf } from "./check.ts";
import { answersIn, type Recordable } from "./recording.ts";
import { Undecided, Verdict } from "./verdict.ts";

/** A judgement before it is put beside the facts of the run. */
interface Judgement {
  readonly status: Status;
  readonly message: string;
  readonly findings: readonly Finding[];
  readonly unblock?: readonly string[];
}

/** Judges a recording. Pure: the same recording gives the same result, now or years later. */
export function judge(instance: Instance, recording: Recordable): Judgement {
  const verdict = new Verdict();
  try {
    if (instance.check.kind === "invariant") instance.check.judge(answersIn(recording), verdict);
    else instance.check.judge(recording, verdict, instance.axes);
  } catch (error) {
    if (error instanceof Undecided) {
      const { status, message, unblock } = error;
      return { status, message, unblock, findings: verdict.findings };
    }
    return { status: "harness-error", message: `the judge failed: ${messageOf(error)}`, findings: verdict.findings };
  }
  if (verdict.findings.length === 0) {
    return { status: "harness-error", message: "the judge said nothing", findings: [] };
  }
  return { status: verdict.status, message: sentence(verdict.findings), findings: verdict.findings };
}

/** The first thing that is broken, or what was found in order. */
function sentence(findings: readonly Finding[]): string {
  const broken = findings.filter(({ outcome }) => outcome === "broken");
  const [worst] = [...broken].sort((a, b) => Number(b.weight === "fail") - Number(a.weight === "fail"));
  if (worst === undefined) {
    const [observed] = findings.filter(({ outcome }) => outcome === "observed");
    const met = findings.length - findings.filter(({ outcome }) => outcome === "observed").length;
    return met > 0 ? `${met} expectations met` : `specification silent; observed: ${observed?.observed ?? "nothing"}`;
  }
  const place = worst.pointer === undefined ? "" : ` at ${worst.pointer}`;
  const more = broken.length === 1 ? "" : ` (and ${broken.length - 1} more)`;
  const note = worst.note === undefined ? "" : `${worst.note}: `;
  return `${note}expected ${worst.expected ?? "otherwise"}${place}, got ${worst.observed}${more}`;
}

interface Circumstances {
  readonly attestations: readonly Attestation[];
  readonly durationMs: number;
}

/** The result of an instance whose recording exists. */
export function resultOf(
  instance: Instance,
  recording: Recordable,
  { attestations, durationMs }: Circumstances,
): CheckResult {
  const { status, message, findings, unblock = [] } = judge(instance, recording);
  return {
    ...frame(instance),
    status,
    message,
    findings: [...findings],
    unblock: [...unblock],
    violated: [
      ...new Set(findings.filter(({ outcome }) => outcome === "broken").map(({ requirement }) => requirement)),
    ],
    attestations: [...attestations],
    exchanges: instance.check.kind === "invariant" ? [] : [...new Set(answersIn(recording).map(({ id }) => id))],
    durationMs,
  };
}

/** The result of an instance that came to no recording. */
export function unjudged(
  instance: Instance,
  { status, message, unblock = [] }: { status: Status; message: string; unblock?: readonly string[] },
): CheckResult {
  return { ...frame(instance), status, message, unblock: [...unblock], durationMs: 0 };
}

function frame({ id, check, axes }: Instance): CheckResult {
  return {
    id,
    check: check.id,
    suite: suiteOf(check.id),
    title: check.title,
    layer: check.layer,
    axes: stringAxes(axes),
    status: "harness-error",
    requirements: [...check.covers],
    violated: [],
    message: "",
    findings: [],
    attestations: [],
    unblock: [],
    exchanges: [],
    durationMs: 0,
  };
}

function stringAxes(axes: Axes): Record<string, string> {
  return Object.fromEntries(Object.entries(axes).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
