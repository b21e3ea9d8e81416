/** Options that several commands have, each said once. */

export const target = {
  type: "string",
  describe: 'target file, or "embedded" for the reference gateway',
  default: "embedded",
  requiresArg: true,
} as const;
export const out = {
  type: "string",
  describe: "folder for this run; default gauntlet-runs/<time>-<target>",
  requiresArg: true,
} as const;
export const json = {
  type: "boolean",
  describe: "print one JSON document to stdout and nothing else there",
  default: false,
} as const;
export const seed = {
  type: "number",
  describe: "seed of everything random; default taken from the clock",
  requiresArg: true,
} as const;
export const only = {
  type: "string",
  array: true,
  nargs: 1,
  describe: "check, check instance, or requirement row; may be repeated",
  default: [] as string[],
} as const;
export const fault = {
  type: "string",
  array: true,
  nargs: 1,
  describe: "with the embedded gateway: switch a fault on",
  default: [] as string[],
} as const;
export const variant = {
  type: "string",
  array: true,
  nargs: 1,
  describe: "with the embedded gateway: switch a legal variant on",
  default: [] as string[],
} as const;
export const waivers = {
  type: "string",
  describe: "waiver file: failures that are known and accepted until a day",
  requiresArg: true,
} as const;
export const repeat = {
  type: "number",
  describe: "run every check so often; a verdict that flips is flaky",
  default: 1,
  requiresArg: true,
} as const;
export const dryRun = {
  type: "boolean",
  describe: "print requests and time per suite, and send nothing",
  default: false,
} as const;
export const suite = {
  type: "string",
  array: true,
  nargs: 1,
  describe: "module with a suite of your own, .ts or .js; may be repeated",
  default: [] as string[],
} as const;
export const policy = {
  type: "string",
  describe: "policy file: gates, required suites and rows, levels",
  requiresArg: true,
} as const;
export const baseline = {
  type: "string",
  describe: "baseline file, in place of the one that the policy names",
  requiresArg: true,
  implies: "policy",
} as const;
export const confirm = {
  type: "boolean",
  describe: "measure failed performance gates of the policy once more",
  default: false,
} as const;
