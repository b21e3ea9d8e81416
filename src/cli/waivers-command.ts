import type { CommandModule } from "yargs";
import { UsageError } from "../core/index.ts";

interface SuggestArguments {
  readonly dir: string;
}

const suggest: CommandModule<object, SuggestArguments> = {
  command: "suggest <dir>",
  describe: "Print a waiver file for the failures of a kept run; fill in reason and owner",
  builder: (yargs) =>
    yargs.positional("dir", { type: "string", demandOption: true, describe: "folder of a run" }) as never,
  handler: async ({ dir }) => {
    const { suggestWaivers } = await import("../checks/index.ts");
    const { readRecord } = await import("../record/index.ts");
    process.stdout.write(suggestWaivers(readRecord(dir).checks, Date.now()));
  },
};

/** `gauntlet waivers`: failures that are known and accepted until a day. */
export const waiversCommand: CommandModule = {
  command: "waivers <action>",
  describe: "Suggest waivers for the failures of a run",
  builder: (yargs) => yargs.command(suggest),
  handler: ({ action }) => {
    throw new UsageError(`there is no "waivers ${String(action)}"`, { hint: "Use `gauntlet waivers suggest DIR`." });
  },
};
