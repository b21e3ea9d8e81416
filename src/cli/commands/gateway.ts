import { once } from "node:events";
import { useCase } from "../../app/index.ts";
import { EXIT } from "../../core/index.ts";
import { defineCommand } from "../define-command.ts";

/** `gauntlet gateway`: runs the reference gateway until it is told to stop. */
export const gatewayCommand = defineCommand({
  command: "gateway",
  describe: "Run the reference gateway",
  builder: (yargs) =>
    yargs.options({
      port: { type: "number", default: 0, describe: "TCP port; 0 takes a free one" },
      host: { type: "string", default: "127.0.0.1", describe: "address to listen on" },
      "admin-port": { type: "number", default: 0, describe: "TCP port of the admin interface, always on loopback" },
      tier: { type: "string", describe: "limits of the main account: starter, growth or scale" },
      limits: { type: "string", describe: "limits of the main account: requests per minute:requests in flight" },
      seed: { type: "number", default: 1, describe: "decides what the simulated models say" },
      limiter: {
        type: "string",
        default: "sliding-log",
        describe: "how the rate is limited: sliding-log, fixed-window, token-bucket or paced",
      },
      burst: { type: "number", describe: "size of the bucket of token-bucket, requests" },
      mutation: { type: "string", array: true, default: [] as string[], describe: "switch on a defect" },
      variant: { type: "string", array: true, default: [] as string[], describe: "switch on a legal variant" },
      "list-mutations": { type: "boolean", default: false, describe: "list the defects and end" },
      "list-variants": { type: "boolean", default: false, describe: "list the legal variants and end" },
      json: { type: "boolean", default: false, describe: "lists as one JSON document" },
      keys: { type: "string", describe: "JSON file with texts of ready-made keys by name" },
      pieces: { type: "number", describe: "pieces of a reply of echo-stream (40)" },
      pace: { type: "number", describe: "milliseconds between pieces of echo-stream (50)" },
      slow: { type: "number", describe: "milliseconds that a reply of slow takes (5000)" },
      "upstream-timeout": { type: "number", describe: "milliseconds until a silent provider is given up (1500)" },
      "settling-lag": { type: "number", describe: "milliseconds until a charge shows in a key's tallies (0)" },
      "body-limit": { type: "number", describe: "largest request body, bytes (8388608)" },
      drain: { type: "number", describe: "milliseconds that running requests get after a signal (10000)" },
    }),
  run: async (argv) => {
    const { listSwitches, startReferenceGateway } = await useCase.gateway();
    if (argv.listMutations) return listSwitches("mutations");
    if (argv.listVariants) return listSwitches("variants");
    const running = await startReferenceGateway(argv);
    await untilStopped(() => process.stdout.write(`${JSON.stringify(running.ready)}\n`));
    await running.drain();
    // Whoever listens for its end holds the channel open, and with it this process.
    if (process.connected) process.disconnect();
    return { exitCode: EXIT.pass, text: () => "" };
  },
});

/** Resolves on a signal, and when the run that started this process has gone. */
async function untilStopped(onReady: () => void): Promise<void> {
  const asked = new AbortController();
  const stop = () => asked.abort();
  process.on("SIGTERM", stop).on("SIGINT", stop);
  // Started by a run of ours: without it there is nobody to serve, and nobody to end us.
  if (process.connected) process.once("disconnect", stop);
  // It was killed before we came this far.
  else if (process.send !== undefined) stop();
  onReady();
  if (!asked.signal.aborted) await once(asked.signal, "abort");
}
