import { defineCommand, json, out, requiredArray, showProgress } from "../../terminal/index.ts";

export const mergeCommand = defineCommand({
  command: "merge <dirs..>",
  describe: "Merge the shards of a load into one run",
  examples: [
    ["gauntlet merge shard-1 shard-2 shard-3 --out merged", "all shards of a load"],
    ["gauntlet merge results/* --out merged --json", "as JSON, in the same form as `gauntlet load --json`"],
  ],
  builder: (yargs) =>
    yargs.positional("dirs", { ...requiredArray, describe: "folders of the shards" }).options({ out, json }),
  run: async (argv) => {
    const { merge } = await import("./run.ts");
    using progress = showProgress(process.stderr, { quiet: argv.json });
    return merge(argv, progress.onProgress);
  },
});
