import { EXIT } from "../../core/index.ts";
import {
  defineCommand,
  flag,
  grouped,
  many,
  optionalArray,
  PORTS,
  REPLICAS,
  SEEDS,
  untilStopped,
  within,
} from "../../terminal/index.ts";

const UP_TO_A_DAY_MS = { min: 0, max: 24 * 3_600_000, fractions: true };

/** `gauntlet gateway`: runs the reference gateway until it is stopped. */
export const gatewayCommand = defineCommand({
  command: "gateway",
  describe: "Run the reference gateway, to develop or test against",
  examples: [
    ["gauntlet gateway --port 8786", "on a fixed port; prints its keys as JSON"],
    [
      "gauntlet gateway --upstream http://127.0.0.1:9100/upstream/v1",
      "in front of a provider, such as gauntlet upstream",
    ],
  ],
  builder: (yargs) =>
    yargs.options({
      ...grouped("Network and processes", {
        port: { type: "number", ...within(PORTS), default: 0, describe: "TCP port; 0 takes a free one" },
        host: { type: "string", default: "127.0.0.1", describe: "address to listen on" },
        "admin-port": {
          type: "number",
          ...within(PORTS),
          default: 0,
          describe: "TCP port of the admin interface, always on loopback",
        },
        replicas: {
          type: "number",
          ...within(REPLICAS),
          describe:
            "start this many processes that share accounts, counters and history; --port is the first of consecutive ports",
        },
      }),
      ...grouped("Limits of the main account", {
        tier: { type: "string", describe: "limits of the main account: starter, growth or scale" },
        limits: { type: "string", describe: "limits of the main account: requests per minute:requests in flight" },
        limiter: {
          type: "string",
          default: "sliding-log",
          describe: "rate limiter: sliding-log, fixed-window, token-bucket or paced",
        },
        burst: {
          type: "number",
          ...within({ min: 1, max: 1e9 }),
          describe: "bucket size of the token-bucket limiter, requests",
        },
      }),
      ...grouped("Accounts and keys", {
        "tokens-per-minute": {
          type: "number",
          describe: "also create an account with a limit on tokens per minute, and print its key",
        },
        "token-counts": {
          type: "string",
          describe: "what --tokens-per-minute counts: total, prompt or reserved; default total",
        },
        keys: { type: "string", describe: "JSON file with the values of ready-made keys, by name" },
      }),
      ...grouped("Behaviour", {
        mutation: {
          type: "string",
          ...optionalArray,
          describe: "turn on a mutation (a deliberate defect)",
        },
        variant: {
          type: "string",
          ...optionalArray,
          describe: "turn on a variant (unusual, but valid)",
        },
        "list-mutations": flag("list the mutations and exit"),
        "list-variants": flag("list the variants and exit"),
        json: flag("with a list option: print it as one JSON document"),
        "settling-lag": {
          type: "number",
          ...within(UP_TO_A_DAY_MS),
          describe: "milliseconds until a charge counts against a key; default 0",
        },
        "body-limit": {
          type: "number",
          ...within({ min: 1, max: 2 ** 31 }),
          describe: "largest request body, bytes; default 8388608",
        },
        drain: {
          type: "number",
          ...within(UP_TO_A_DAY_MS),
          describe: "milliseconds to let requests in flight finish after a signal; default 2000",
        },
      }),
      ...grouped("Simulated models", {
        seed: { type: "number", ...within(SEEDS), default: 1, describe: "seed of the simulated models' replies" },
        pieces: {
          type: "number",
          ...within({ min: 1, max: 1e6 }),
          describe: "chunks of a reply of echo-stream; default 40",
        },
        pace: {
          type: "number",
          ...within(UP_TO_A_DAY_MS),
          describe: "milliseconds between chunks of echo-stream; default 50",
        },
        slow: {
          type: "number",
          ...within(UP_TO_A_DAY_MS),
          describe: "milliseconds that a reply of the model slow takes; default 5000",
        },
      }),
      ...grouped("Providers", {
        upstream: many(
          "base address of a provider to call instead of the simulated models; may be repeated for failover",
        ),
        "upstream-key": many("env:NAME, the key for the provider of the same position; may be repeated"),
        "upstream-timeout": {
          type: "number",
          ...within(UP_TO_A_DAY_MS),
          describe: "milliseconds until a silent upstream times out; default 1500, with --upstream 60000",
        },
        "with-upstream": flag(
          "also start two providers like those of `gauntlet upstream`, and a model that calls them",
        ),
      }),
      ...grouped("State and log", {
        data: { type: "string", describe: "SQLite file that keeps accounts, keys and history; default: memory only" },
        shared: {
          type: "string",
          describe:
            "SQLite file for sharing accounts, counters and history with other gateways started with the same file",
        },
        "log-requests": flag("print a line of JSON for each request"),
      }),
    }),
  run: async (argv) => {
    const { listSwitches, startReferenceGateway } = await import("./run.ts");
    if (argv.listMutations) return listSwitches("mutations");
    if (argv.listVariants) return listSwitches("variants");
    const running = await startReferenceGateway(argv);
    await untilStopped(() => process.stdout.write(`${JSON.stringify(running.ready)}\n`));
    await running.drain();
    // The `disconnect` listener of `untilStopped` keeps the IPC channel, and so this process, alive.
    if (process.connected) process.disconnect();
    return { exitCode: EXIT.pass, text: () => "" };
  },
});
