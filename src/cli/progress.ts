import { SingleBar } from "cli-progress";
import type { OnProgress, ProgressEvent } from "../app/index.ts";

type LoadProgress = Extract<ProgressEvent, { readonly kind: "load" }>["progress"];
type ChecksProgress = Extract<ProgressEvent, { readonly kind: "checks" }>;

interface Progress extends Disposable {
  readonly onProgress: OnProgress;
}

/** A line every so often where nobody watches: CI logs must not fill with redrawn bars. */
const PLAIN_EVERY_MS = 10_000;

/** Progress on a stream: a bar or one redrawn line on a terminal, plain lines elsewhere, notices alone when quiet. */
export function showProgress(stream: NodeJS.WriteStream, { quiet }: { readonly quiet: boolean }): Progress {
  const checks = stream.isTTY ? bar(stream) : plainLines(stream);
  const load = loadLine(stream);
  const clear = () => {
    checks.stop();
    load.clear();
  };
  return {
    onProgress(event) {
      if (quiet && event.kind !== "notice") return;
      if (event.kind === "checks") return checks.show(event);
      checks.stop();
      if (event.kind === "load") return load.show(event.progress);
      load.clear();
      stream.write(`gauntlet: ${event.text}\n`);
    },
    [Symbol.dispose]: clear,
  };
}

interface CheckCounter {
  show(progress: ChecksProgress): void;
  stop(): void;
}

function bar(stream: NodeJS.WriteStream): CheckCounter {
  const single = new SingleBar({
    stream,
    format: "  {bar} {value}/{total} checks  {what}",
    barsize: 24,
    fps: 4,
    hideCursor: true,
    clearOnComplete: true,
    linewrap: false,
  });
  return {
    show({ done, total, what }) {
      if (done === 0) single.start(total, 0, { what: "" });
      else single.update(done, { what: what.slice(0, 50) });
    },
    stop() {
      if (single.isActive) single.stop();
    },
  };
}

function plainLines(stream: NodeJS.WriteStream): CheckCounter {
  let toldMs = 0;
  return {
    show({ done, total, what }) {
      if (done > 0 && Date.now() - toldMs < PLAIN_EVERY_MS) return;
      toldMs = Date.now();
      stream.write(
        done === 0 ? `gauntlet: ${total} checks\n` : `gauntlet: ${done} of ${total} checks done (${what})\n`,
      );
    },
    stop() {},
  };
}

function loadLine(stream: NodeJS.WriteStream) {
  const latest = new Map<string, LoadProgress>();
  let toldMs = Date.now();
  let isShown = false;
  return {
    show(progress: LoadProgress) {
      latest.set(progress.run, progress);
      const text = [...latest.values()].map(describe).join("  |  ");
      if (stream.isTTY) {
        isShown = true;
        stream.write(`\r\x1b[2K${text.slice(0, (stream.columns ?? 100) - 1)}`);
      } else if (Date.now() - toldMs >= PLAIN_EVERY_MS) {
        toldMs = Date.now();
        stream.write(`gauntlet: ${text}\n`);
      }
    },
    /** What follows is another load, or none. */
    clear() {
      latest.clear();
      if (isShown) stream.write("\r\x1b[2K");
      isShown = false;
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
