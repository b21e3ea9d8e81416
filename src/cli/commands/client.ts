import { useCase } from "../../app/index.ts";
import { defineCommand, withControl } from "../define-command.ts";
import { json } from "../options.ts";

/** `gauntlet client -- COMMAND`: judges a client by how it retries. */
export const clientCommand = defineCommand({
  command: "client",
  describe: "Test how a client program waits and retries: client -- COMMAND…",
  examples: [
    ["gauntlet client -- node app.js", "every scenario"],
    ["gauntlet client --scenario rate-seconds -- python app.py", "one scenario"],
  ],
  builder: (yargs) =>
    yargs.options({
      scenario: {
        type: "string",
        array: true,
        nargs: 1,
        default: [] as string[],
        describe: "scenario to run; may be repeated; default: all",
      },
      "list-scenarios": { type: "boolean", default: false, describe: "list the scenarios and exit" },
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
        describe: "seconds after which the command is stopped",
      },
      "most-attempts": {
        type: "number",
        default: 10,
        requiresArg: true,
        describe: "attempts at one call; more count as unbounded",
      },
      jobs: { type: "number", default: 4, requiresArg: true, describe: "scenarios that run at the same time" },
    }),
  run: async (argv) => {
    const { client } = await useCase.client();
    const options = {
      // What stood behind `--`, as it was written.
      command: (argv["behindDashes"] ?? []) as readonly string[],
      scenarios: argv.scenario,
      list: argv.listScenarios,
      out: argv.out,
      timeoutS: argv.timeout,
      mostAttempts: argv.mostAttempts,
      jobs: argv.jobs,
    };
    return withControl((control) => client(options, control), { quiet: argv.json });
  },
});
