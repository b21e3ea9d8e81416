import type { CommandModule } from "yargs";
import { useCase } from "../../app/index.ts";
import { UsageError } from "../../core/index.ts";
import { defineCommand, withControl } from "../define-command.ts";
import { json, k6, target } from "../options.ts";
import { showProgress } from "../progress/progress.ts";

const exportCommand = defineCommand({
  command: "export <what>",
  describe: "Write a folder that plain k6 and the k6 operator can run",
  builder: (yargs) =>
    yargs.positional("what", { type: "string", demandOption: true, describe: "tier, workload or file" }).options({
      target,
      out: { type: "string", demandOption: true, requiresArg: true, describe: "folder to write" },
      instances: { type: "number", default: 2, requiresArg: true, describe: "pods that share the schedule" },
      output: {
        choices: ["opentelemetry", "prometheus"] as const,
        default: "opentelemetry" as const,
        describe: "live output of the pods, beside their raw samples",
      },
      seed: { type: "number", default: 1, requiresArg: true, describe: "seed of everything random" },
      brief: { type: "boolean", default: false, describe: "tier runs: leave out what needs longer overload" },
      k6,
    }),
  run: async (argv) => {
    const { exportK6 } = await useCase.exportK6();
    using progress = showProgress(process.stderr, { quiet: false });
    return await exportK6(argv, progress.onProgress);
  },
});

const importCommand = defineCommand({
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
      }),
  run: async (argv) => {
    const { importK6 } = await useCase.importK6();
    using progress = showProgress(process.stderr, { quiet: argv.json });
    return await importK6(argv, progress.onProgress);
  },
});

const planCommand = defineCommand({
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
    }),
  run: async (argv) => {
    const { planFleet } = await useCase.planFleet();
    return withControl((control) => planFleet(argv, control), { quiet: argv.json });
  },
});

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
