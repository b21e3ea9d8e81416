import {
  defineCommand,
  grouped,
  json,
  mutation,
  number,
  out,
  target,
  text,
  variant,
  withControl,
} from "../../terminal/index.ts";

/** `gauntlet limits`: finds out how an account is limited. */
export const limitsCommand = defineCommand({
  command: "limits",
  describe: "Measure the limits of an account: rate, burst, limiter, concurrency; deliberately reaches them",
  examples: [
    ["gauntlet limits --target gauntlet.yaml --account limited.0", "an account that is set aside for this"],
    ["gauntlet limits --target gauntlet.yaml --budget-requests 2000 --minutes 3", "within a budget"],
  ],
  builder: (yargs) =>
    yargs.options({
      ...grouped("Target", {
        target,
        account: { ...text("account to measure: valid, starter, growth, scale, limited.0, …"), default: "valid" },
        mutation,
        variant,
      }),
      ...grouped("Budget", {
        "budget-requests": number("largest number of requests; default: from the limits of the account", {
          min: 1,
          max: 1e9,
        }),
        minutes: number("longest duration, minutes; default 6", { min: 0, max: 24 * 60, fractions: true }),
      }),
      ...grouped("Output", {
        json,
        out: { ...out, describe: "folder for result.json and report.html; default: neither is written" },
      }),
    }),
  run: async (argv) => {
    const { limits } = await import("./run.ts");
    return withControl((control) => limits({ ...argv, requests: argv.budgetRequests }, control), { quiet: false });
  },
});
