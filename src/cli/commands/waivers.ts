import type { CommandModule } from "yargs";
import { useCase } from "../../app/index.ts";
import { EXIT, UsageError } from "../../core/index.ts";
import { defineCommand } from "../define-command.ts";

const suggest = defineCommand({
  command: "suggest <dir>",
  describe: "Print a waiver file for the failures of a kept run; fill in reason and owner",
  builder: (yargs) => yargs.positional("dir", { type: "string", demandOption: true, describe: "folder of a run" }),
  run: async ({ dir }) => {
    const text = (await useCase.waivers()).waiversFor(dir);
    return { exitCode: EXIT.pass, text: () => text };
  },
});

/** `gauntlet waivers`: failures that are known and accepted until a day. */
export const waiversCommand: CommandModule = {
  command: "waivers <action>",
  describe: "Suggest waivers for the failures of a run",
  builder: (yargs) => yargs.command(suggest),
  handler: ({ action }) => {
    throw new UsageError(`there is no "waivers ${String(action)}"`, { hint: "Use `gauntlet waivers suggest DIR`." });
  },
};
