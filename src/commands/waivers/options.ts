import type { CommandModule } from "yargs";

import { didYouMean, EXIT, UsageError } from "../../core/index.ts";
import { defineCommand, examplesText } from "../../terminal/index.ts";

const EXAMPLES = [
  ["gauntlet waivers suggest gauntlet-runs/my-run", "to read it"],
  ["gauntlet waivers suggest gauntlet-runs/my-run > waivers.yaml", "to edit and use it with --waivers"],
] as const;

const suggest = defineCommand({
  command: "suggest <dir>",
  describe: "Print a waiver file for the failures of a stored run; add the reason and the owner yourself",
  examples: EXAMPLES,
  builder: (yargs) => yargs.positional("dir", { type: "string", demandOption: true, describe: "folder of a run" }),
  run: async ({ dir }) => {
    const text = (await import("./run.ts")).waiversFor(dir);
    return { exitCode: EXIT.pass, text: () => text };
  },
});

/** `gauntlet waivers`: known failures that are accepted until a date. */
export const waiversCommand: CommandModule = {
  command: "waivers <action>",
  describe: "Print a waiver file for the failures of a stored run",
  builder: (yargs) => yargs.command(suggest).epilogue(examplesText(EXAMPLES)),
  handler: ({ action }) => {
    const guess = didYouMean(String(action), ["suggest"]);
    throw new UsageError(`unknown command "waivers ${String(action)}"`, {
      hint: `${guess}Use \`gauntlet waivers suggest DIR\`.`,
    });
  },
};
