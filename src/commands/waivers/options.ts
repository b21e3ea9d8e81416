import type { CommandModule } from "yargs";

import { EXIT } from "../../core/index.ts";
import { type Command, defineCommand, defineGroup } from "../../terminal/index.ts";

const suggest = defineCommand({
  command: "suggest <dir>",
  describe: "Print a waiver file for the failures of a stored run; add the reason and the owner yourself",
  examples: [
    ["gauntlet waivers suggest gauntlet-runs/my-run", "to read it"],
    ["gauntlet waivers suggest gauntlet-runs/my-run > waivers.yaml", "to edit and use it with --waivers"],
  ],
  builder: (yargs) => yargs.positional("dir", { type: "string", demandOption: true, describe: "folder of a run" }),
  run: async ({ dir }) => {
    const text = (await import("./run.ts")).waiversFor(dir);
    return { exitCode: EXIT.pass, text: () => text };
  },
});

/** `gauntlet waivers`: known failures that are accepted until a date. */
export const waiversCommand: CommandModule = defineGroup({
  name: "waivers",
  describe: "Print a waiver file for the failures of a stored run",
  commands: [suggest as Command],
});
