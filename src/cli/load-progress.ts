import type { LoadProgress } from "../load/index.ts";

export interface LoadBar extends Disposable {
  tell(progress: LoadProgress): void;
}

/** A line every so often where nobody watches: CI logs must not fill with redrawn lines. */
const PLAIN_EVERY_MS = 10_000;

/** Progress on stderr: one line redrawn on a terminal, plain lines elsewhere, nothing when quiet. */
export function loadProgress(stream: NodeJS.WriteStream, quiet: boolean): LoadBar {
  const latest = new Map<string, LoadProgress>();
  let toldMs = Date.now();
  return {
    tell(progress) {
      if (quiet) return;
      latest.set(progress.run, progress);
      const text = [...latest.values()].map(describe).join("  |  ");
      if (stream.isTTY) {
        stream.write(`\r\x1b[2K${text.slice(0, (stream.columns ?? 100) - 1)}`);
      } else if (Date.now() - toldMs >= PLAIN_EVERY_MS) {
        toldMs = Date.now();
        stream.write(`gauntlet: ${text}\n`);
      }
    },
    [Symbol.dispose]() {
      if (!quiet && stream.isTTY) stream.write("\r\x1b[2K");
    },
  };
}

function describe(progress: LoadProgress): string {
  const { run, phase, elapsedS, totalS, inFlight, sentPerS, admittedPerS, denied, failed, p50Ms, p99Ms } = progress;
  const left = totalS === undefined ? "" : `, ${Math.max(0, Math.ceil(totalS - elapsedS))} s left`;
  const trouble = `${denied === 0 ? "" : `, ${denied} denied`}${failed === 0 ? "" : `, ${failed} failed`}`;
  const latency =
    p50Ms === undefined || p99Ms === undefined ? "" : `, p50 ${p50Ms.toFixed(0)} p99 ${p99Ms.toFixed(0)} ms`;
  const rates = `${sentPerS.toFixed(0)}/s sent, ${admittedPerS.toFixed(0)}/s admitted`;
  return `${phase === run ? run : `${run} ${phase}`}: ${rates}, ${inFlight} in flight${latency}${trouble}${left}`;
}
