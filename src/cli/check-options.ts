import { UsageError } from "../core/index.ts";
import { OutOfRange } from "../terminal/index.ts";

/** What yargs knows of the declared options: the names of those that take several values, among others. */
interface Declared {
  readonly array?: unknown;
}

/**
 * Validates all options before the command begins.
 *
 * @param argv as yargs parsed it. @param raw the command line, for the value as it was typed.
 * @throws UsageError for an invalid or out-of-range number, and for an option that is given twice.
 */
export function checkOptions(
  argv: Readonly<Record<string, unknown>>,
  raw: readonly string[],
  declared: Declared,
): void {
  const repeatable: readonly unknown[] = Array.isArray(declared.array) ? declared.array : [];
  for (const [name, value] of Object.entries(argv)) {
    if (Array.isArray(value) && countOf(name, raw) > 1 && !repeatable.includes(name))
      throw new UsageError(`--${name} is given ${countOf(name, raw)} times`, { hint: "Give it once." });
    const given = typed(name, raw);
    if (Number.isNaN(value)) throw new UsageError(`--${name} takes a number, not "${given ?? value}"`);
    if (!(value instanceof OutOfRange)) continue;
    const { min, max, fractions = false } = value.range;
    const kind = fractions ? "number" : "whole number";
    throw new UsageError(`--${name} takes a ${kind} from ${min} to ${max}, not "${given ?? value.value}"`);
  }
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
