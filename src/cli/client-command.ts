import type { CommandModule } from "yargs";
import { json } from "./options.ts";
import { leaveExitCode } from "./outcome.ts";

interface Arguments {
  readonly scenario: string[];
  readonly "list-scenarios": boolean;
  readonly out?: string;
  readonly json: boolean;
  readonly timeout: number;
  readonly "most-attempts": number;
  readonly jobs: number;
  /** What stood behind `--`, as it was written. */
  readonly behindDashes?: readonly string[];
}

/** `gauntlet client -- COMMAND`: judges a client by how it retries. */
export const clientCommand: CommandModule<object, Arguments> = {
  command: "client",
  describe: "Judge a client by its conduct: runs a command against scripted gateways (client -- COMMAND…)",
  builder: {
    scenario: {
      type: "string",
      array: true,
      nargs: 1,
      default: [],
      describe: "scenario to run; may be repeated; default all",
    },
    "list-scenarios": { type: "boolean", default: false, describe: "list the scenarios and end" },
    out: {
      type: "string",
      requiresArg: true,
      describe: "folder for this run; default gauntlet-runs/<time>-<command>",
    },
    json,
    timeout: {
      type: "number",
      default: 60,
      requiresArg: true,
      describe: "seconds after which a run of the command is stopped",
    },
    "most-attempts": {
      type: "number",
      default: 10,
      requiresArg: true,
      describe: "attempts at one call beyond which they count as without bound",
    },
    jobs: { type: "number", default: 4, requiresArg: true, describe: "scenarios under way at the same time" },
  },
  handler: async (argv) => {
    const { client } = await import("../app/client/client.ts");
    leaveExitCode(
      argv,
      await client({
        command: argv.behindDashes ?? [],
        scenarios: argv.scenario,
        list: argv["list-scenarios"],
        out: argv.out,
        json: argv.json,
        timeoutS: argv.timeout,
        mostAttempts: argv["most-attempts"],
        jobs: argv.jobs,
      }),
    );
  },
};
