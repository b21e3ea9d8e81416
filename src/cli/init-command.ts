import type { CommandModule } from "yargs";
import type { InitOptions } from "../app/init.ts";
import { leaveExitCode } from "./outcome.ts";

/** `gauntlet init`: writes a target file and what belongs to it. */
export const initCommand: CommandModule<object, InitOptions> = {
  command: "init",
  describe: "Write gauntlet.yaml, .env.example, a policy and a CI job",
  builder: {
    yes: { type: "boolean", alias: "y", default: false, describe: "ask nothing: options and defaults answer" },
    "base-url": { type: "string", requiresArg: true, describe: "base address with its version segment" },
    name: { type: "string", requiresArg: true, describe: "what reports call the gateway" },
    model: { type: "string", requiresArg: true, describe: "a model for chat completions" },
    "messages-model": { type: "string", requiresArg: true, describe: "a model for messages" },
    limits: { type: "string", requiresArg: true, describe: "starter, growth, scale, or RPM:INFLIGHT" },
    ci: { choices: ["github", "gitlab", "none"], default: "github", describe: "CI job to write" },
    force: { type: "boolean", default: false, describe: "overwrite files that are there" },
  },
  handler: async (argv) => {
    const { init } = await import("../app/init.ts");
    leaveExitCode(argv, await init(argv));
  },
};
