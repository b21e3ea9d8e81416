import { UsageError } from "../core/index.ts";

interface Range {
  readonly least: number;
  readonly most: number;
  /** Fractions are allowed. */
  readonly fractions?: boolean;
}

const MAX_MS = 24 * 3_600_000;

/** The range of each numeric option, for all commands: invalid values are rejected before anything is sent. */
const RANGES: Readonly<Record<string, Range>> = {
  "admin-port": { least: 0, most: 65_535 },
  "at-most": { least: 1, most: 86_400, fractions: true },
  "block-s": { least: 0.1, most: 3_600, fractions: true },
  "body-limit": { least: 1, most: 2 ** 31 },
  "budget-requests": { least: 1, most: 1e9 },
  burst: { least: 1, most: 1e9 },
  cores: { least: 1, most: 1_024, fractions: true },
  drain: { least: 0, most: MAX_MS, fractions: true },
  from: { least: 0, most: 1e9, fractions: true },
  "in-flight": { least: 1, most: 1e9 },
  "live-port": { least: 0, most: 65_535 },
  "metrics-port": { least: 0, most: 65_535 },
  margin: { least: 0, most: 1_000, fractions: true },
  minutes: { least: 0, most: 24 * 60, fractions: true },
  "memory-gib": { least: 0.1, most: 65_536, fractions: true },
  pace: { least: 0, most: MAX_MS, fractions: true },
  pairs: { least: 1, most: 10_000 },
  pieces: { least: 1, most: 1e6 },
  port: { least: 0, most: 65_535 },
  rate: { least: 0, most: 1e9, fractions: true },
  seconds: { least: 0.1, most: 3_600, fractions: true },
  seed: { least: 0, most: 2 ** 31 - 1 },
  "settling-lag": { least: 0, most: MAX_MS, fractions: true },
  shards: { least: 1, most: 1_000 },
  slow: { least: 0, most: MAX_MS, fractions: true },
  "step-s": { least: 0.1, most: 3_600, fractions: true },
  streams: { least: 1, most: 100_000 },
  to: { least: 0, most: 1e9, fractions: true },
  "tokens-per-s": { least: 0.001, most: 1e9, fractions: true },
  "ttft-ms": { least: 0, most: MAX_MS, fractions: true },
  "upstream-timeout": { least: 0, most: MAX_MS, fractions: true },
  "watch-interval-s": { least: 0.2, most: 60, fractions: true },
  "watch-pid": { least: 1, most: 2 ** 31 - 1 },
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
  const { least, most, fractions = false } = range;
  if (value >= least && value <= most && (fractions || Number.isInteger(value))) return;
  throw new UsageError(`--${name} takes a ${fractions ? "" : "whole "}number from ${least} to ${most}, not "${given}"`);
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
