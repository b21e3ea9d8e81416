import { useCase } from "../../app/index.ts";
import { defineCommand, withControl } from "../define-command.ts";
import { json } from "../options.ts";

export const calibrateCommand = defineCommand({
  command: "calibrate",
  describe: "Measure what this machine adds to latencies by itself, against a built-in stamped server",
  builder: (yargs) =>
    yargs.options({
      json,
      streams: { type: "number", default: 100, describe: "streams in flight, about" },
      seconds: { type: "number", default: 3, describe: "how long" },
    }),
  run: async (argv) => {
    const { calibrate } = await useCase.calibrate();
    return withControl((control) => calibrate(argv, control), { quiet: argv.json });
  },
});
