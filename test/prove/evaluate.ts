import { FAULTS, VARIANTS } from "../../src/gateway/index.ts";
import type { Judgement } from "./judgement.ts";

/** One fault against all checks. */
export interface Kill {
  readonly fault: string;
  /** Rows that the fault says it breaks. */
  readonly rows: readonly string[];
  /** Checks that failed or warned in one of these rows, with the rows. */
  readonly killers: Readonly<Record<string, readonly string[]>>;
  /** Further rows that broke, known from earlier runs: consequences of the same defect. */
  readonly also: readonly string[];
}

/** Rows that a busy machine can break by itself: never held against a fault's list. */
export const TIMING: readonly string[] = ["STEADY-LATENCY", "STEADY-SERVICE", "ANSWER-IN-TIME", "COMPAT-MSG-STREAM"];

const KILLS = ["fail", "warn", "flaky"];

/** Reads off who killed a fault; no killers means that it survived. */
export function killOf({ name, bad }: Judgement): Kill {
  const rows = FAULTS.find((fault) => fault.name === name)?.rows ?? [];
  const broken = bad.filter(({ status }) => KILLS.includes(status));
  const own = broken.filter((result) => result.rows.some((row) => rows.includes(row)));
  const killers = Object.fromEntries(
    own.map((result) => [result.id, result.rows.filter((row) => rows.includes(row))] as const),
  );
  const also = [...new Set(broken.flatMap((result) => result.rows))].filter((row) => !rows.includes(row)).sort();
  return { fault: name, rows, killers, also };
}

/** Whether a fault was found, and by a failure or by warnings alone, in one of the rows that it breaks. */
export function foundBy({ name, bad }: Judgement): "failure" | "warning" | undefined {
  const rows = FAULTS.find((fault) => fault.name === name)?.rows ?? [];
  const own = bad.filter((result) => KILLS.includes(result.status) && result.rows.some((row) => rows.includes(row)));
  if (own.length === 0) return undefined;
  return own.some(({ status }) => status === "fail") ? "failure" : "warning";
}

/** What is wrong with a judgement, in words; empty when it is as it should be. */
export function complaints(judgement: Judgement): string[] {
  if (judgement.error !== undefined) return [`${judgement.name}: ${judgement.error}`];
  return judgement.kind === "faults" ? ofFault(judgement) : ofVariant(judgement);
}

function ofFault(judgement: Judgement): string[] {
  const { fault, killers, also, rows } = killOf(judgement);
  if (Object.keys(killers).length > 0) return [];
  const elsewhere = also.length === 0 ? "nothing failed" : `failed only in ${also.join(", ")}`;
  return [`${fault}: survived (${elsewhere}; belongs to ${rows.join(", ")})`];
}

/** Rows that broke beside a fault's own and never did before: worth a look, and often another name for the same defect. */
export function strays(judgement: Judgement, known: ReadonlyMap<string, Kill>): string[] {
  if (judgement.kind !== "faults") return [];
  const expected = known.get(judgement.name)?.also;
  const stray = killOf(judgement).also.filter((row) => expected?.includes(row) === false && !TIMING.includes(row));
  return stray.length === 0 ? [] : [`${judgement.name}: also failed in ${stray.join(", ")}, which it never did before`];
}

function ofVariant({ name, bad }: Judgement): string[] {
  const variant = VARIANTS.find((candidate) => candidate.name === name);
  return bad
    .filter(({ status, rows }) => status !== "warn" || !rows.every((row) => variant?.warns?.includes(row)))
    .map(({ id, status, message }) => `${name}: ${id} ${status}: ${message}`);
}
