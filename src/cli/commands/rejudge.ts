import { useCase } from "../../app/index.ts";
import { defineCommand } from "../define-command.ts";
import { json, suite } from "../options.ts";

export const rejudgeCommand = defineCommand({
  command: "rejudge <dir>",
  describe: "Judge a kept run again from its recording, without traffic",
  builder: (yargs) =>
    yargs
      .positional("dir", { type: "string", demandOption: true, describe: "folder of a run" })
      .options({ json, suite }),
  run: async (argv) => (await useCase.rejudge()).rejudge(argv),
});
