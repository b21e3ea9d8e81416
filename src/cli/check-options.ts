import { UsageError } from "../core/index.ts";

interface Range {
  readonly min: number;
  readonly max: number;
  /** Fractions are allowed. */
  readonly fractions?: boolean;
}

const MAX_MS = 24 * 3_600_000;

/** The range of each numeric option, for all commands: invalid values are rejected before anything is sent. */
const RANGES: Readonly<Record<string, Range>> = {
  "admin-port": { min: 0, max: 65_535 },
  "at-most": { min: 1, max: 86_400, fractions: true },
  "block-s": { min: 0.1, max: 3_600, fractions: true },
  "body-limit": { min: 1, max: 2 ** 31 },
  "budget-requests": { min: 1, max: 1e9 },
  burst: { min: 1, max: 1e9 },
  cores: { min: 1, max: 1_024, fractions: true },
  drain: { min: 0, max: MAX_MS, fractions: true },
  from: { min: 0, max: 1e9, fractions: true },
  "in-flight": { min: 1, max: 1e9 },
  "live-port": { min: 0, max: 65_535 },
  "metrics-port": { min: 0, max: 65_535 },
  margin: { min: 0, max: 1_000, fractions: true },
  minutes: { min: 0, max: 24 * 60, fractions: true },
  "memory-gib": { min: 0.1, max: 65_536, fractions: true },
  pace: { min: 0, max: MAX_MS, fractions: true },
  pairs: { min: 1, max: 10_000 },
  pieces: { min: 1, max: 1e6 },
  port: { min: 0, max: 65_535 },
  rate: { min: 0, max: 1e9, fractions: true },
  seconds: { min: 0.1, max: 3_600, fractions: true },
  seed: { min: 0, max: 2 ** 31 - 1 },
  "settling-lag": { min: 0, max: MAX_MS, fractions: true },
  shards: { min: 1, max: 1_000 },
  slow: { min: 0, max: MAX_MS, fractions: true },
  "step-s": { min: 0.1, max: 3_600, fractions: true },
  streams: { min: 1, max: 100_000 },
  to: { min: 0, max: 1e9, fractions: true },
  "tokens-per-s": { min: 0.001, max: 1e9, fractions: true },
  "ttft-ms": { min: 0, max: MAX_MS, fractions: true },
  "upstream-timeout": { min: 0, max: MAX_MS, fractions: true },
  "watch-interval-s": { min: 0.2, max: 60, fractions: true },
  "watch-pid": { min: 1, max: 2 ** 31 - 1 },
};

/** Options that may be given several times. */
const REPEATABLE: readonly string[] = [
  "mutation",
  "format",
  "metric",
  "only",
  "scenario",
  "suite",
  "suites",
  "variant",
];
/** The same for one command; other commands have a single-valued option of the same name. */
const REPEATABLE_IN: Readonly<Record<string, readonly string[]>> = { gateway: ["upstream", "upstream-key"] };

/**
 * Validates all options before the command begins.
 *
 * @param argv as yargs parsed it. @param raw the command line, for the value as it was typed.
 * @throws UsageError for an invalid or out-of-range number, and for an option that is given twice.
 */
export function checkOptions(argv: Readonly<Record<string, unknown>>, raw: readonly string[]): void {
  const [command] = Array.isArray(argv["_"]) ? argv["_"] : [];
  const repeatable = [...REPEATABLE, ...(REPEATABLE_IN[String(command)] ?? [])];
  for (const [name, value] of Object.entries(argv)) {
    if (Array.isArray(value) && countOf(name, raw) > 1 && !repeatable.includes(name))
      throw new UsageError(`--${name} is given ${countOf(name, raw)} times`, { hint: "Give it once." });
    if (typeof value === "number") checkNumber(name, value, raw);
  }
}

function checkNumber(name: string, value: number, raw: readonly string[]): void {
  const range = RANGES[name];
  const given = typed(name, raw) ?? String(value);
  if (Number.isNaN(value)) throw new UsageError(`--${name} takes a number, not "${given}"`);
  if (range === undefined) return;
  const { min, max, fractions = false } = range;
  if (value >= min && value <= max && (fractions || Number.isInteger(value))) return;
  throw new UsageError(`--${name} takes a ${fractions ? "" : "whole "}number from ${min} to ${max}, not "${given}"`);
}

function isOption(name: string, argument: string): boolean {
  return argument === `--${name}` || argument.startsWith(`--${name}=`);
}

function countOf(name: string, raw: readonly string[]): number {
  return raw.filter((argument) => isOption(name, argument)).length;
}

/** The value as typed; `undefined` for a default. */
function typed(name: string, raw: readonly string[]): string | undefined {
  const at = raw.findIndex((argument) => isOption(name, argument));
  if (at < 0) return undefined;
  const argument = raw[at] as string;
  return argument.includes("=") ? argument.slice(argument.indexOf("=") + 1) : raw[at + 1];
}
