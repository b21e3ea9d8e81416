import type { CommandModule } from "yargs";
import { UsageError } from "../core/index.ts";
import type { ExportOptions } from "../app/k6/export-k6.ts";
import { json, target } from "./options.ts";
import { leaveExitCode } from "./outcome.ts";

const k6 = { type: "string", requiresArg: true, describe: "path of k6; default K6_PATH, then PATH" } as const;
const exportCommand: CommandModule<object, ExportOptions> = {
  command: "export <what>",
  describe: "Write a folder that plain k6 and the k6 operator can run",
  builder: (yargs) =>
    yargs.positional("what", { type: "string", demandOption: true, describe: "tier, workload or file" }).options({
      target,
      out: { type: "string", demandOption: true, requiresArg: true, describe: "folder to write" },
      instances: { type: "number", default: 2, requiresArg: true, describe: "pods that share the schedule" },
      output: {
        choices: ["opentelemetry", "prometheus"],
        default: "opentelemetry",
        describe: "live output of the pods, beside their raw samples",
      },
      seed: { type: "number", default: 1, requiresArg: true, describe: "seed of everything random" },
      brief: { type: "boolean", default: false, describe: "tier runs: leave out what needs longer overload" },
      k6,
    }) as never,
  handler: async (argv) => {
    const { exportK6 } = await import("../app/k6/export-k6.ts");
    leaveExitCode(argv, await exportK6(argv));
  },
};

interface ImportArguments {
  readonly files: string[];
  readonly plan?: string;
  readonly target?: string | undefined;
  readonly out?: string;
  readonly json: boolean;
}

const importCommand: CommandModule<object, ImportArguments> = {
  command: "import <files..>",
  describe: "Make one run record of raw outputs of k6 (json or csv) from many machines",
  builder: (yargs) =>
    yargs
      .positional("files", { type: "string", array: true, demandOption: true, describe: "one output an instance" })
      .options({
        plan: {
          type: "string",
          requiresArg: true,
          describe: "plan.json that was played; default beside the first file",
        },
        target,
        out: { type: "string", requiresArg: true, describe: "folder for this run" },
        json,
      }) as never,
  handler: async (argv) => {
    const { importK6 } = await import("../app/k6/import-k6.ts");
    leaveExitCode(argv, await importK6(argv));
  },
};

interface PlanArguments {
  readonly rate: number;
  readonly inFlight: number;
  readonly cores: number;
  readonly memoryGib: number;
  readonly measure: boolean;
  readonly k6?: string;
  readonly json: boolean;
}

const planCommand: CommandModule<object, PlanArguments> = {
  command: "plan",
  describe: "Tell how many instances of k6 a load needs, from what k6 costs on this machine",
  builder: (yargs) =>
    yargs.options({
      rate: { type: "number", demandOption: true, requiresArg: true, describe: "requests per minute" },
      "in-flight": { type: "number", demandOption: true, requiresArg: true, describe: "most requests in flight" },
      cores: { type: "number", default: 2, requiresArg: true, describe: "processor cores of an instance" },
      "memory-gib": { type: "number", default: 4, requiresArg: true, describe: "memory of an instance, GiB" },
      measure: {
        type: "boolean",
        default: true,
        describe: "measure k6 here, 15 s; --no-measure takes the figures of docs/scale.md",
      },
      k6,
      json,
    }) as never,
  handler: async (argv) => {
    const { planFleet } = await import("../app/k6/plan-fleet.ts");
    leaveExitCode(argv, await planFleet(argv));
  },
};

/** `gauntlet k6`: what is needed to run on other machines. */
export const k6Command: CommandModule = {
  command: "k6 <action>",
  describe: "Export a workload for k6, import what k6 measured, plan how many instances it needs",
  builder: (yargs) => yargs.command(exportCommand).command(importCommand).command(planCommand),
  handler: ({ action }) => {
    throw new UsageError(`there is no "k6 ${String(action)}"`, {
      hint: "Use `gauntlet k6 export`, `import` or `plan`.",
    });
  },
};
