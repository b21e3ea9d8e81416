import type { CommandModule } from "yargs";

import {
  type Command,
  defineCommand,
  defineGroup,
  flag,
  json,
  k6,
  number,
  requiredArray,
  SEEDS,
  showProgress,
  target,
  text,
  withControl,
} from "../../terminal/index.ts";

const exportCommand = defineCommand({
  command: "export <what>",
  describe: "Write a folder that plain k6 and the k6 operator can run",
  examples: [
    ["gauntlet k6 export growth --out k6-growth --target gauntlet.yaml", "a tier"],
    ["gauntlet k6 export workload.yaml --out k6-load --instances 4", "a workload for four pods"],
  ],
  builder: (yargs) =>
    yargs.positional("what", { type: "string", demandOption: true, describe: "tier, workload or file" }).options({
      target,
      out: { ...text("folder to write"), demandOption: true },
      instances: { ...number("pods that share the schedule"), default: 2 },
      output: {
        choices: ["opentelemetry", "prometheus"] as const,
        default: "opentelemetry" as const,
        describe: "live output of the pods, in addition to their raw samples",
      },
      seed: { ...number("seed of everything random", SEEDS), default: 1 },
      brief: flag("tier runs: do not wait for a Retry-After of over 40 s"),
      k6,
    }),
  run: async (argv) => {
    const { exportK6 } = await import("./export-k6.ts");
    using progress = showProgress(process.stderr, { quiet: false });
    return await exportK6(argv, progress.onProgress);
  },
});

const importCommand = defineCommand({
  command: "import <files..>",
  describe: "Merge the raw outputs of k6 (JSON or CSV) from all machines into one run",
  examples: [
    ["gauntlet k6 import k6-growth/out-*.json --target gauntlet.yaml", "all instances of a run"],
    ["gauntlet k6 import out.csv --plan k6-growth/plan.json", "with the plan that was run"],
  ],
  builder: (yargs) =>
    yargs
      .positional("files", {
        ...requiredArray,
        describe: "outputs of k6, one for each instance",
      })
      .options({
        plan: text("plan.json that k6 ran; default: the one next to the first file"),
        target,
        out: text("folder for this run"),
        json,
      }),
  run: async (argv) => {
    const { importK6 } = await import("./import-k6.ts");
    using progress = showProgress(process.stderr, { quiet: argv.json });
    return await importK6(argv, progress.onProgress);
  },
});

const planCommand = defineCommand({
  command: "plan",
  describe: "Compute how many instances of k6 a load needs, from what k6 costs on this machine",
  examples: [
    ["gauntlet k6 plan --rate 60000 --in-flight 5000", "measures k6 here first"],
    [
      "gauntlet k6 plan --rate 60000 --in-flight 5000 --no-measure --cores 8",
      "from stored figures, for larger machines",
    ],
  ],
  builder: (yargs) =>
    yargs.options({
      rate: { ...number("requests per minute", { min: 0, max: 1e9, fractions: true }), demandOption: true },
      "in-flight": { ...number("highest number of requests in flight", { min: 1, max: 1e9 }), demandOption: true },
      cores: { ...number("CPU cores of an instance", { min: 1, max: 1_024, fractions: true }), default: 2 },
      "memory-gib": { ...number("memory of an instance, GiB", { min: 0.1, max: 65_536, fractions: true }), default: 4 },
      measure: {
        type: "boolean",
        default: true,
        describe: "measure k6 here, about 20 s; --no-measure uses the figures in docs/scale.md",
      },
      k6,
      json,
    }),
  run: async (argv) => {
    const { planFleet } = await import("./plan-fleet.ts");
    return withControl((control) => planFleet(argv, control), { quiet: argv.json });
  },
});

/** `gauntlet k6`: what is needed to run on other machines. */
export const k6Command: CommandModule = defineGroup({
  name: "k6",
  describe: "Export a workload for k6, import k6's results, or work out how many instances it needs",
  commands: [exportCommand as Command, importCommand as Command, planCommand as Command],
});
