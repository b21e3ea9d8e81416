import { defineCommand, json, LENGTHS_S, withControl, within } from "../../terminal/index.ts";

export const calibrateCommand = defineCommand({
  command: "calibrate",
  describe: "Measure how much latency this machine itself adds",
  examples: [
    ["gauntlet calibrate", "a few seconds against a built-in server"],
    ["gauntlet calibrate --streams 500 --seconds 10", "with as many streams as your load will have"],
  ],
  builder: (yargs) =>
    yargs.options({
      json,
      streams: {
        type: "number",
        ...within({ min: 1, max: 100_000 }),
        default: 100,
        describe: "approximate number of concurrent streams",
      },
      seconds: { type: "number", ...within(LENGTHS_S), default: 3, describe: "length of the measurement, seconds" },
    }),
  run: async (argv) => {
    const { calibrate } = await import("./run.ts");
    return withControl((control) => calibrate(argv, control), { quiet: argv.json });
  },
});
