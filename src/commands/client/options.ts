import { defineCommand, flag, json, many, number, text, withControl } from "../../terminal/index.ts";

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
      scenario: many("scenario to run; may be repeated; default: all"),
      "list-scenarios": flag("list the scenarios and exit"),
      out: text("folder for this run; default gauntlet-runs/<time>-<command>"),
      json,
      timeout: { ...number("seconds after which the command is stopped"), default: 60 },
      "most-attempts": {
        ...number("maximum number of attempts for one call; a client that sends more counts as unbounded"),
        default: 10,
      },
      jobs: { ...number("scenarios that run at the same time"), default: 4 },
    }),
  run: async (argv) => {
    const { client } = await import("./run.ts");
    const options = {
      // The part after `--`, as written.
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
