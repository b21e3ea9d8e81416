import { EXIT } from "../../core/index.ts";
import { defineCommand, flag, PORTS, untilStopped, withControl, within } from "../../terminal/index.ts";

/** `gauntlet upstream`: runs model providers for a gateway to call, until it is stopped. */
export const upstreamCommand = defineCommand({
  command: "upstream",
  describe: "Run simulated model providers for your gateway to call, which record every request",
  examples: [
    ["gauntlet upstream --port 9100", "one provider that serves any model without delay; prints its address as JSON"],
    ["gauntlet upstream --scenario upstream.yaml", "providers that are slow, fail or cut streams as the file says"],
  ],
  builder: (yargs) =>
    yargs.options({
      port: { type: "number", ...within(PORTS), default: 0, describe: "TCP port of the providers; 0 takes a free one" },
      host: { type: "string", default: "127.0.0.1", describe: "address to listen on" },
      "control-port": {
        type: "number",
        ...within(PORTS),
        default: 0,
        describe: "TCP port of the control interface, always on loopback; 0 takes a free one",
      },
      "control-token": {
        type: "string",
        describe: "env:NAME, the bearer token of the control interface; default: a random one, which is printed",
      },
      ceiling: flag("measure what it can serve on this machine, and exit"),
      json: flag("with --ceiling: print one JSON document"),
      scenario: { type: "string", describe: "YAML file: how each provider and model responds (docs/upstream.md)" },
    }),
  run: async (argv) => {
    if (argv.ceiling) {
      const { measureCeiling } = await import("./ceiling.ts");
      return withControl((control) => measureCeiling(control), { quiet: argv.json });
    }
    const { startProviders } = await import("./run.ts");
    await using running = await startProviders(argv);
    await untilStopped(() => process.stdout.write(`${JSON.stringify(running.ready)}\n`));
    return { exitCode: EXIT.pass, text: () => "" };
  },
});
