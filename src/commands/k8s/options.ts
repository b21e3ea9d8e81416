import type { CommandModule } from "yargs";

import {
  type Command,
  defineCommand,
  defineGroup,
  flag,
  number,
  seed,
  showProgress,
  target,
  text,
} from "../../terminal/index.ts";

const exportCommand = defineCommand({
  command: "export <what>",
  describe: "Write Kubernetes manifests that divide a workload among pods",
  examples: [
    ["gauntlet k8s export workload.yaml --shards 40 --out k8s --target gauntlet.yaml", "an Indexed Job of 40 pods"],
    [
      "gauntlet k8s export workload.yaml --shards 8 --out k8s --jobset --store s3://results/load",
      "a JobSet, results to an object store",
    ],
  ],
  builder: (yargs) =>
    yargs.positional("what", { type: "string", demandOption: true, describe: "built-in workload or file" }).options({
      target,
      shards: { ...number("pods that share the schedule", { min: 1, max: 1_000 }), demandOption: true },
      out: { ...text("folder to write"), default: "gauntlet-k8s" },
      jobset: flag("a JobSet instead of a Job"),
      image: text("image of Gauntlet; default: gateway-gauntlet:<version>"),
      "start-at": text("when all shards begin; default: set when the manifests are applied"),
      "time-source": text("URL whose Date header is the clock; default: the target's"),
      store: text("s3://bucket/prefix for the results; default: a volume"),
      seed,
    }),
  run: async (argv) => {
    const { exportK8s } = await import("./run.ts");
    using progress = showProgress(process.stderr, { quiet: false });
    return await exportK8s(argv, progress.onProgress);
  },
});

/** `gauntlet k8s`: what is needed to run on a cluster. */
export const k8sCommand: CommandModule = defineGroup({
  name: "k8s",
  describe: "Export a workload as Kubernetes manifests",
  commands: [exportCommand as Command],
});
