import { EXIT } from "../../core/index.ts";
import { defineCommand, suite } from "../../terminal/index.ts";

export const explainCommand = defineCommand({
  command: "explain <id>",
  describe: "Explain a check, a requirement or a profile",
  examples: [
    ["gauntlet explain auth.unknown-key", "how a check decides, and what to do when it fails"],
    ["gauntlet explain AUTH-3", "a requirement, and the checks that cover it"],
  ],
  builder: (yargs) =>
    yargs
      .positional("id", { type: "string", demandOption: true, describe: "check, requirement or profile" })
      .options({ suite }),
  run: async (argv) => {
    const { explain } = await import("./run.ts");
    const text = await explain(argv.id, argv.suite);
    return { exitCode: EXIT.pass, text: () => text };
  },
});
