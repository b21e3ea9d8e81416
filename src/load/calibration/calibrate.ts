import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { nowUs, type PreparedRequest, Sender } from "../../http/load-client/index.ts";
import { Histogram, NO_QUANTILES } from "../../metrics/index.ts";
import type { LoadGenerator } from "../../record/index.ts";
import { Tally } from "../measure/tally.ts";
import { drive } from "../send/drive.ts";
import { STAMPED } from "./stamped-server.ts";

export type Calibration = NonNullable<LoadGenerator["calibration"]>;

export interface CalibrateOptions {
  /** Concurrent streams; default 100. */
  readonly streams?: number;
  /** Duration, s; default 1.5. */
  readonly seconds?: number;
  readonly signal: AbortSignal;
}

/** Warm-up: the first half second is spent on JIT compilation, which a run has finished before it is measured. */
const WARM_S = 0.5;

/** A short run against the built-in stamped server: measures the delay that this machine itself adds right now. */
export async function calibrate({ streams = 100, seconds = 1.5, signal }: CalibrateOptions): Promise<Calibration> {
  const file = `./stamped-server.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`;
  const worker = new Worker(fileURLToPath(new URL(file, import.meta.url)));
  try {
    const [port] = (await once(worker, "message")) as [number];
    const url = `http://127.0.0.1:${port}/v1/chat/completions`;
    const lag = new Histogram();
    const first = new Histogram();
    // Both clocks are monotonic; their origins differ by a constant.
    const offsetNs = Number(process.hrtime.bigint()) - nowUs() * 1_000;
    await using sender = new Sender({
      url,
      maxConnections: streams,
      onStamp: (stampNs, readUs, exchange) => {
        const lateUs = readUs + offsetNs / 1_000 - stampNs / 1_000;
        lag.record(lateUs);
        if (exchange.firstTokenUs === readUs) first.record(lateUs);
      },
    });
    await sender.open(streams);
    const prepared: PreparedRequest = {
      url,
      dialect: "chat",
      stream: true,
      key: "none",
      capture: false,
      bytes: Buffer.from(
        `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 2\r\n\r\n{}`,
      ),
    };
    const tally = new Tally(nowUs());
    // Duration of one stream; this rate keeps the requested number in flight.
    const streamS = (STAMPED.firstMs + STAMPED.gapMs * STAMPED.events) / 1_000;
    const ratePerS = streams / streamS;
    await drive({
      sender,
      tally,
      arrivals: { kind: "constant", ratePerS: ratePerS * 0.9, durationS: seconds },
      seed: 1,
      warmupS: WARM_S,
      prepared: () => prepared,
      reason: () => undefined,
      signal,
    });
    return {
      deliveryLagMs: lag.quantilesMs() ?? NO_QUANTILES,
      scheduleLagMs: tally.lag.quantilesMs() ?? NO_QUANTILES,
      ttftErrorMs: first.quantilesMs() ?? NO_QUANTILES,
      ratePerS,
      streams,
    };
  } finally {
    await worker.terminate();
  }
}

/** Why this machine cannot measure well now; empty if it can. */
export function problemsOf(
  { deliveryLagMs, scheduleLagMs }: Calibration,
  bounds: { readonly deliveryLagP99Ms: number; readonly scheduleLagP99Ms: number },
): string[] {
  const beyond = (what: string, { p99 }: { readonly p99: number }, bound: number) =>
    p99 > bound ? [`calibration: ${what} late, p99 ${p99.toFixed(1)} ms, limit ${bound} ms`] : [];
  return [
    ...(deliveryLagMs.max === 0 ? ["the calibration saw no event"] : []),
    ...beyond("events are read", deliveryLagMs, bounds.deliveryLagP99Ms),
    ...beyond("sends are", scheduleLagMs, bounds.scheduleLagP99Ms),
  ];
}
