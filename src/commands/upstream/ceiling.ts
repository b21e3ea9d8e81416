import { EXIT, InternalError } from "../../core/index.ts";
import { closedLoopPeak } from "../../engines/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { exitAfter, type RunControl } from "../../run/control/index.ts";
import { mainFile } from "../../run/open/index.ts";
import { startOwnProcess } from "../../target/index.ts";

const CONNECTIONS = 32;
const SECONDS = 3;
/** Pieces of a stream, and its number of events including its beginning and end. */
const PIECES = 64;
const EVENTS = PIECES + 3;

interface Measured {
  readonly repliesPerS: number;
  readonly repliesPerCpuS: number;
}

/** Measures how much an upstream can serve on this machine, in a separate process. */
export async function measureCeiling({ interruption, onProgress }: RunControl): Promise<Outcome> {
  const command = [process.execPath, mainFile(), "upstream"] as const;
  const signal = interruption.signal;
  await using upstream = await startOwnProcess(command, { what: "the upstream", readyField: "controlUrl", signal });
  const ready = upstream.ready as unknown as Ready;
  const scenario = { providers: { upstream: { models: { "*": { pieces: PIECES } } } } };
  await control(ready, "scenario", { method: "PUT", body: JSON.stringify(scenario) });
  onProgress({ kind: "step", text: "measuring non-streaming replies" });
  const plain = await measure(ready, false, signal);
  onProgress({ kind: "step", text: "measuring streams" });
  const streams = await measure(ready, true, signal);
  const exitCode = exitAfter(interruption, EXIT.pass);
  const document = {
    exitCode,
    connections: CONNECTIONS,
    seconds: SECONDS,
    requestsPerS: Math.round(plain.repliesPerS),
    requestsPerCpuS: Math.round(plain.repliesPerCpuS),
    eventsPerS: Math.round(streams.repliesPerS * EVENTS),
    eventsPerCpuS: Math.round(streams.repliesPerCpuS * EVENTS),
  };
  const text = [
    `${CONNECTIONS} connections, ${SECONDS} s each, client and upstream on this machine`,
    `  non-streaming  ${document.requestsPerS}/s measured, ${document.requestsPerCpuS} per CPU second of the upstream`,
    `  streaming      ${document.eventsPerS} events/s measured, ${document.eventsPerCpuS} events per CPU second of the upstream`,
    "",
  ].join("\n");
  return { exitCode, document, text: () => text };
}

interface Ready {
  readonly providers: { readonly upstream: string };
  readonly controlUrl: string;
  readonly controlToken: string;
}

async function measure(ready: Ready, stream: boolean, stop: AbortSignal): Promise<Measured> {
  let replies = 0;
  const before = await cpuS(ready);
  const startedMs = performance.now();
  await closedLoopPeak({
    url: `${ready.providers.upstream}/chat/completions`,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "m", stream, messages: [{ role: "user", content: "Hello" }] }),
    connections: CONNECTIONS,
    durationS: SECONDS,
    timeoutS: 10,
    maySend: () => true,
    onReply: ({ status, ending }) => {
      if (status === 200 && ending === "complete") replies++;
    },
    stop,
  });
  const elapsedS = (performance.now() - startedMs) / 1_000;
  const usedS = (await cpuS(ready)) - before;
  if (replies === 0 && !stop.aborted) throw new InternalError("the upstream served nothing");
  return { repliesPerS: replies / elapsedS, repliesPerCpuS: usedS === 0 ? 0 : replies / usedS };
}

async function cpuS(ready: Ready): Promise<number> {
  const response = await control(ready, "usage");
  return ((await response.json()) as { cpuS: number }).cpuS;
}

function control({ controlUrl, controlToken }: Ready, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = {
    authorization: `Bearer ${controlToken}`,
    ...(init.body === undefined ? {} : { "content-type": "application/json" }),
  };
  return fetch(`${controlUrl}/${path}`, { ...init, headers });
}
