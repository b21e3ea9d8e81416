import type { CommandModule } from "yargs";
import { leaveExitCode } from "./outcome.ts";

interface Arguments {
  readonly target: string;
  readonly json: boolean;
}

/** `gauntlet doctor`: looks at a target file, the gateway and this machine before a run. */
export const doctorCommand: CommandModule<object, Arguments> = {
  command: "doctor",
  describe: "Look at a target file, the gateway and this machine before a run",
  builder: {
    target: { type: "string", default: "gauntlet.yaml", requiresArg: true, describe: "target file" },
    json: { type: "boolean", default: false, describe: "print one JSON document to stdout and nothing else there" },
  },
  handler: async (argv) => {
    const { doctor } = await import("../app/doctor.ts");
    leaveExitCode(argv, await doctor(argv));
  },
};
