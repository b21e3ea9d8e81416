import { SingleBar } from "cli-progress";

export interface Progress {
  start(total: number): void;
  step(done: number, what: string): void;
  stop(): void;
}

/** A line every so often where nobody watches: CI logs must not fill with redrawn bars. */
const PLAIN_EVERY_MS = 10_000;

/** Progress on stderr: a bar on a terminal, plain lines elsewhere, nothing when quiet. */
export function progress(stream: NodeJS.WriteStream, quiet: boolean): Progress {
  if (quiet) return { start() {}, step() {}, stop() {} };
  return stream.isTTY ? bar(stream) : plainLines(stream);
}

function bar(stream: NodeJS.WriteStream): Progress {
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
    start: (total) => single.start(total, 0, { what: "" }),
    step: (done, what) => single.update(done, { what: what.slice(0, 50) }),
    stop: () => single.stop(),
  };
}

function plainLines(stream: NodeJS.WriteStream): Progress {
  let total = 0;
  let toldMs = 0;
  return {
    start(checks) {
      total = checks;
      toldMs = Date.now();
      stream.write(`gauntlet: ${checks} checks\n`);
    },
    step(done, what) {
      if (Date.now() - toldMs < PLAIN_EVERY_MS) return;
      toldMs = Date.now();
      stream.write(`gauntlet: ${done} of ${total} checks done (${what})\n`);
    },
    stop() {},
  };
}
