import type { CommandModule } from "yargs";
import type { Format, Layout } from "../../reports/index.ts";
import {
  baseline,
  confirm,
  dryRun,
  json,
  mutation,
  only,
  out,
  policy,
  repeat,
  seed,
  suite,
  target,
  variant,
  waivers,
} from "./options.ts";
import { leaveExitCode } from "./outcome.ts";
import type { Printed } from "../app/report.ts";

const conformOptions = {
  target,
  only,
  suite,
  json,
  out,
  seed,
  mutation,
  variant,
  waivers,
  repeat,
  "dry-run": dryRun,
  policy,
  baseline,
};

interface ConformArguments {
  readonly suites?: string[];
  readonly target?: string | undefined;
  readonly only: string[];
  readonly suite: string[];
  readonly json: boolean;
  readonly out?: string;
  readonly seed?: number;
  readonly mutation: string[];
  readonly variant: string[];
  readonly waivers?: string;
  readonly repeat: number;
  readonly policy?: string;
  readonly baseline?: string;
  readonly confirm?: boolean;
  readonly dryRun: boolean;
}

// Handlers load what they need when they run, so that `--help` does not wait for it.

export const conformCommand: CommandModule<object, ConformArguments> = {
  command: "conform [suites..]",
  describe: "Judge a gateway by the conformance suites",
  builder: (yargs) =>
    yargs
      .positional("suites", { type: "string", array: true, describe: "suites to run; default all" })
      .options(conformOptions) as never,
  handler: async (argv) => {
    const { conform } = await import("../app/conform.ts");
    leaveExitCode(argv, await conform({ command: "conform", ...argv, suites: argv.suites ?? [] }));
  },
};

export const runCommand: CommandModule<object, ConformArguments & { readonly load: boolean; readonly quick: boolean }> =
  {
    command: "run",
    describe: "Judge a gateway: conformance, then load on the tiers it has, verdict and reports",
    builder: (yargs) =>
      yargs.options({
        ...conformOptions,
        load: {
          type: "boolean",
          default: true,
          describe: "generate load on the target's tiers; --no-load leaves it out",
        },
        confirm,
        quick: { type: "boolean", default: false, describe: "leave out what waits for rate windows: a minute at most" },
      }) as never,
    handler: async (argv) => {
      const { conform } = await import("../app/conform.ts");
      leaveExitCode(
        argv,
        await conform({
          command: "run",
          ...argv,
          suites: [],
          tiers: argv.load && argv.only.length === 0,
        }),
      );
    },
  };

export const checksCommand: CommandModule<object, { readonly json: boolean; readonly suite: string[] }> = {
  command: "checks",
  describe: "List the checks with their requirements and levels",
  builder: { json, suite },
  handler: async (argv) => {
    const { listChecks } = await import("../app/list-checks.ts");
    leaveExitCode(argv, await listChecks(argv));
  },
};

export const explainCommand: CommandModule<object, { readonly id: string; readonly suite: string[] }> = {
  command: "explain <id>",
  describe: "Explain a check or a requirement",
  builder: (yargs) =>
    yargs
      .positional("id", { type: "string", demandOption: true, describe: "check or requirement" })
      .options({ suite }) as never,
  handler: async (argv) => {
    const { explain } = await import("../app/list-checks.ts");
    leaveExitCode(argv, await explain(argv.id, argv.suite));
  },
};

export const rejudgeCommand: CommandModule<
  object,
  { readonly dir: string; readonly json: boolean; readonly suite: string[] }
> = {
  command: "rejudge <dir>",
  describe: "Judge a kept run again from its recording, without traffic",
  builder: (yargs) =>
    yargs
      .positional("dir", { type: "string", demandOption: true, describe: "folder of a run" })
      .options({ json, suite }) as never,
  handler: async (argv) => {
    const { rejudge } = await import("../app/rejudge.ts");
    leaveExitCode(argv, await rejudge(argv));
  },
};

interface ReportArguments {
  readonly dirs: string[];
  readonly format: Format[];
  readonly layout: Layout;
  readonly print?: Printed;
}

export const reportCommand: CommandModule<object, ReportArguments> = {
  command: "report <dirs..>",
  describe: "Render the reports of stored runs again",
  builder: (yargs) =>
    yargs.positional("dirs", { type: "string", array: true, demandOption: true, describe: "folders of runs" }).options({
      format: {
        type: "string",
        array: true,
        nargs: 1,
        choices: ["html", "junit", "ctrf", "markdown", "annotations", "sarif", "events", "openmetrics"],
        default: [] as string[],
        describe: "write this; may be repeated; default what every run leaves in its folder",
      },
      layout: {
        choices: ["single", "folder"],
        default: "single",
        describe: "HTML as one file, or as a folder for servers that forbid what stands inside a page",
      },
      print: {
        choices: ["terminal", "json", "junit", "ctrf", "markdown", "annotations", "sarif", "events", "openmetrics"],
        describe: "print this to stdout and write nothing",
      },
    }) as never,
  handler: async (argv) => {
    const { report } = await import("../app/report.ts");
    leaveExitCode(argv, report(argv));
  },
};

interface LoadArguments {
  readonly what: string[];
  readonly target?: string | undefined;
  readonly json: boolean;
  readonly out?: string;
  readonly seed?: number;
  readonly engine?: string;
  readonly workers: number;
  readonly instances: number;
  readonly k6?: string;
  readonly brief: boolean;
  readonly "dry-run": boolean;
  readonly mutation: string[];
  readonly variant: string[];
}

export const loadCommand: CommandModule<object, LoadArguments> = {
  command: "load <what..>",
  describe: "Generate load: a tier (starter, growth, scale, own), a shipped workload (peak, soak, stress) or a file",
  builder: (yargs) =>
    yargs
      .positional("what", { type: "string", array: true, demandOption: true, describe: "tier, workload or file" })
      .options({
        target,
        json,
        out,
        seed,
        mutation,
        variant,
        engine: {
          type: "string",
          describe: "who generates the load: native, autocannon (closed loops) or k6",
          requiresArg: true,
        },
        brief: { type: "boolean", default: false, describe: "tier runs: leave out what needs longer overload" },
        workers: { type: "number", default: 0, describe: "worker threads that share the load; 0: none" },
        instances: { type: "number", default: 1, describe: "with k6: processes that share the schedule exactly" },
        k6: { type: "string", requiresArg: true, describe: "path of k6; default K6_PATH, then PATH" },
        "dry-run": { type: "boolean", default: false, describe: "print the plan and send nothing" },
      }) as never,
  handler: async (argv) => {
    const { load } = await import("../app/load.ts");
    leaveExitCode(argv, await load({ ...argv, dryRun: argv["dry-run"] }));
  },
};

interface CompareArguments {
  readonly a?: string;
  readonly b?: string;
  readonly startA?: string;
  readonly startB?: string;
  readonly pairs: number;
  readonly blockS: number;
  readonly rate?: number;
  readonly workload?: string;
  readonly suites: string[];
  readonly seed?: number;
  readonly out?: string;
  readonly json: boolean;
}

export const compareCommand: CommandModule<object, CompareArguments> = {
  command: "compare [a] [b]",
  describe: "Hold a build against another: slower, or behaving differently",
  builder: (yargs) =>
    yargs
      .positional("a", { type: "string", describe: "target file of the first build, or folder of a stored run" })
      .positional("b", { type: "string", describe: "of the second" })
      .options({
        "start-a": { type: "string", requiresArg: true, describe: "command that starts the first build" },
        "start-b": { type: "string", requiresArg: true, describe: "command that starts the second build" },
        pairs: { type: "number", default: 10, requiresArg: true, describe: "rounds in which both run a block" },
        "block-s": { type: "number", default: 10, requiresArg: true, describe: "seconds of a block" },
        rate: { type: "number", requiresArg: true, describe: "requests per second; default from the target's limits" },
        workload: { type: "string", requiresArg: true, describe: "workload file of a block" },
        suites: {
          type: "string",
          array: true,
          nargs: 1,
          default: [] as string[],
          describe: "suite of the behaviour part; may be repeated",
        },
        seed,
        out,
        json,
      }) as never,
  handler: async (argv) => {
    const { compare } = await import("../app/compare/compare.ts");
    leaveExitCode(argv, await compare(argv));
  },
};

export const calibrateCommand: CommandModule<
  object,
  { readonly json: boolean; readonly streams: number; readonly seconds: number }
> = {
  command: "calibrate",
  describe: "Measure what this machine adds to latencies by itself, against a built-in stamped server",
  builder: {
    json,
    streams: { type: "number", default: 100, describe: "streams in flight, about" },
    seconds: { type: "number", default: 3, describe: "how long" },
  },
  handler: async (argv) => {
    const { calibrate } = await import("../app/calibrate.ts");
    leaveExitCode(argv, await calibrate(argv));
  },
};
