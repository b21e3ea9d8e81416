import { statSync } from "node:fs";
import type { JudgedRun } from "../../record/index.ts";
import { EvenSamples } from "./even-samples.ts";

export interface WatchedLogs {
  /** As in the target file. */
  readonly names: readonly string[];
  /** Absolute paths. */
  readonly files: readonly string[];
}

interface Growth {
  readonly atMs: number;
  /** Written since the first sample. */
  readonly bytes: number;
  /** Changes when a file was replaced, truncated or removed. */
  readonly generation: number;
}

interface FileState {
  readonly identity: string;
  readonly size: number;
}

/** Samples of how much is written to log files. They are not read: only their sizes are. */
export class LogSamples implements Disposable {
  readonly #logs: WatchedLogs;
  readonly #timer: NodeJS.Timeout;
  readonly #taken = new EvenSamples<Growth>();
  readonly #known = new Map<string, FileState | undefined>();
  #bytes = 0;
  #generation = 0;

  constructor(logs: WatchedLogs, intervalMs: number) {
    this.#logs = logs;
    for (const file of logs.files) this.#known.set(file, stateOf(file));
    this.#timer = setInterval(() => this.#take(), intervalMs);
    this.#take();
  }

  /** Takes one more sample, then stops. */
  end(): void {
    this.#take();
    clearInterval(this.#timer);
  }

  section(startMs: number): NonNullable<NonNullable<JudgedRun["watched"]>["logs"]> {
    const samples = this.#taken.all.map(({ atMs, bytes, generation }, index, all) => {
      const before = all[index - 1];
      const isContinued = before !== undefined && before.generation === generation;
      return { atS: (atMs - startMs) / 1_000, bytes: isContinued ? bytes - before.bytes : null };
    });
    return { files: [...this.#logs.names], samples: samples.filter(({ atS }) => atS >= 0) };
  }

  #take(): void {
    for (const file of this.#logs.files) {
      const [before, now] = [this.#known.get(file), stateOf(file)];
      this.#known.set(file, now);
      if (before !== undefined && now !== undefined && now.identity === before.identity && now.size >= before.size)
        this.#bytes += now.size - before.size;
      else this.#generation++;
    }
    this.#taken.add({ atMs: Date.now(), bytes: this.#bytes, generation: this.#generation });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

function stateOf(file: string): FileState | undefined {
  try {
    const { ino, birthtimeMs, size } = statSync(file);
    // A new file may get the inode number of the one that was just removed.
    return { identity: `${ino} ${birthtimeMs}`, size };
  } catch {
    // Removed, and perhaps not written again yet.
    return undefined;
  }
}
