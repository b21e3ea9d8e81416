/** Options that several commands share. */

import type { Options } from "yargs";
import { type Range, within } from "./range.ts";

export const text = (describe: string) => ({ type: "string", describe, requiresArg: true }) as const;
/** An array option that may be omitted. */
export const optionalArray = { array: true, default: [] as string[], defaultDescription: "none" } as const;
/** Positional arguments of which at least one is needed. Without the explicit default, yargs shows `[default: []]`. */
export const requiredArray = { type: "string", array: true, demandOption: true, default: undefined } as const;
export const many = (describe: string) => ({ type: "string", ...optionalArray, nargs: 1, describe }) as const;
export const flag = (describe: string) => ({ type: "boolean", describe, default: false }) as const;
export const number = (describe: string, range?: Range) =>
  ({ type: "number", describe, requiresArg: true, ...(range !== undefined && within(range)) }) as const;

export const target = text(
  'target file, or "embedded" for the reference gateway; default: gauntlet.yaml if it exists; otherwise, at a terminal only, embedded',
);
export const out = text("folder for this run; default: gauntlet-runs/<time>-<target>");
export const json = flag("print exactly one JSON document to stdout");
export const SEEDS: Range = { min: 0, max: 2 ** 31 - 1 };
/** Processes of the reference gateway that share their state. */
export const REPLICAS: Range = { min: 2, max: 16 };
const REPEATS: Range = { min: 1, max: 1_000 };
export const PORTS: Range = { min: 0, max: 65_535 };
export const LENGTHS_S: Range = { min: 0.1, max: 3_600, fractions: true };
export const seed = number("seed of everything random; default: from the clock", SEEDS);
export const only = many("check, check instance or requirement to run; may be repeated");
export const mutation = many("with the embedded gateway: turn on a mutation; may be repeated");
export const variant = many("with the embedded gateway: turn on a variant; may be repeated");
export const replicas = number("with the embedded gateway: start this many processes that share their state", REPLICAS);
export const waivers = text("waiver file: known failures that are accepted until a date");
export const repeat = {
  ...number("number of times to run every check; one that fails only sometimes is flaky", REPEATS),
  default: 1,
} as const;
export const dryRun = flag("print what each suite would send, and send nothing");
export const suite = many("module with your own suite (.ts, .js); may be repeated");
export const profile = many("profile that the run must meet; replaces `profiles` of the target file; may be repeated");
export const policy = text("policy file: gates, required suites and requirements, levels");
export const baseline = {
  ...text("baseline file; default: the one that the policy names"),
  implies: "policy",
} as const;
export const confirm = flag("re-measure failed performance gates of the policy");
export const k6 = text("path of k6; default: K6_PATH, then PATH");

/** Options under a separate heading in `--help`. */
export function grouped<O extends Readonly<Record<string, Options>>>(heading: string, options: O): O {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [name, { ...option, group: `${heading}:` }]),
  ) as O;
}

/** Options of `conform`; `run` has more. */
const quick = {
  type: "boolean",
  default: false,
  describe: "only the checks that find most defects quickly; with run, also the load test of one tier",
} as const;

export const conformOptions = {
  ...grouped("Target", { target, mutation, variant, replicas }),
  ...grouped("What to run", { only, quick, suite, repeat, seed, "dry-run": dryRun }),
  ...grouped("Judging", { profile, policy, baseline, waivers }),
  ...grouped("Output", { json, out }),
};
