import { MUTATIONS, VARIANTS } from "../../src/reference-gateway/index.ts";
import { LEDGER } from "../../src/requirements/index.ts";
import type { Judgement } from "./judgement.ts";
import { mayBreak } from "./may-break.ts";

/** One mutation against all checks. */
export interface Kill {
  readonly mutation: string;
  /** Rows that the mutation says it breaks. */
  readonly rows: readonly string[];
  /** Checks that failed or warned in one of these rows, with the rows. */
  readonly killers: Readonly<Record<string, readonly string[]>>;
  /** Whether one of them failed, or all of them only warned; `null`: nobody saw it. */
  readonly foundBy: "failure" | "warning" | null;
  /** Further rows that broke: consequences of the same defect, as `may-break.ts` has them. */
  readonly also: readonly string[];
}

const MUSTS = new Set<string>(LEDGER.filter(({ level }) => level === "MUST").map(({ id }) => id));
const ROW_IDS = LEDGER.map(({ id }): string => id);

/** Rows that a busy machine can break by itself: never held against a mutation. */
export const TIMING: readonly string[] = ["STEADY-LATENCY", "STEADY-SERVICE", "ANSWER-IN-TIME", "COMPAT-MSG-STREAM"];

const KILLS = ["fail", "warn", "flaky"];

/** Reads off who killed a mutation; no killers means that it survived. */
export function killOf({ name, bad }: Judgement): Kill {
  const rows = MUTATIONS.find((mutation) => mutation.name === name)?.rows ?? [];
  const broken = bad.filter(({ status }) => KILLS.includes(status));
  const own = broken.filter((result) => result.rows.some((row) => rows.includes(row)));
  const killers = Object.fromEntries(
    own.map((result) => [result.id, result.rows.filter((row) => rows.includes(row))] as const),
  );
  const also = [...new Set(broken.flatMap((result) => result.rows))].filter((row) => !rows.includes(row)).sort();
  const foundBy = own.length === 0 ? null : own.some(({ status }) => status === "fail") ? "failure" : "warning";
  return { mutation: name, rows, killers, foundBy, also };
}

/** Whether a mutation breaks a MUST, of the interface or of a standard, and only a warning says so: that counts as missed. */
export function isUnderstated({ rows, foundBy }: Kill): boolean {
  return foundBy === "warning" && rows.some((row) => MUSTS.has(row));
}

/** What is wrong with a judgement, in words; empty when it is as it should be. */
export function complaints(judgement: Judgement): string[] {
  if (judgement.error !== undefined) return [`${judgement.name}: ${judgement.error}`];
  return judgement.kind === "mutations" ? ofFault(judgement) : ofVariant(judgement);
}

function ofFault(judgement: Judgement): string[] {
  const { mutation, foundBy, also, rows } = killOf(judgement);
  const allowed = mayBreak(mutation, rows, ROW_IDS);
  const stray = also.filter((row) => !allowed.has(row) && !TIMING.includes(row));
  const elsewhere = also.length === 0 ? "nothing failed" : `failed only in ${also.join(", ")}`;
  return [
    ...(foundBy === null ? [`${mutation}: survived (${elsewhere}; belongs to ${rows.join(", ")})`] : []),
    ...(stray.length > 0 ? [`${mutation}: broke ${stray.join(", ")}, which it must not (may-break.ts)`] : []),
  ];
}

function ofVariant({ name, bad }: Judgement): string[] {
  const variant = VARIANTS.find((candidate) => candidate.name === name);
  return bad
    .filter(({ status, rows }) => status !== "warn" || !rows.every((row) => variant?.warns?.includes(row)))
    .map(({ id, status, message }) => `${name}: ${id} ${status}: ${message}`);
}
