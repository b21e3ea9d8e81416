import { GauntletError } from "../../src/core/index.ts";
import type { Outcome } from "../../src/run/control/outcome.ts";
import type { RunControl } from "../../src/run/control/run-control.ts";

interface Ended {
  readonly code: number;
  /** What `--json` prints. */
  readonly document: object | undefined;
  /** What is printed without it, or the message of the error that ended the command. */
  readonly text: string;
  /** The lines that are shown on stderr even without progress. */
  readonly notices: string;
}

/** No colors, as in a file. */
export const PLAIN = new Proxy({} as Parameters<Outcome["text"]>[0], { get: () => (text: string) => text });

/**
 * Runs a use case in this process. For tests of what it decides: a separate process costs half a second of CPU time.
 * `gauntlet()` starts one, for tests of options, signals and output.
 */
export async function inProcess(run: (control: RunControl) => Promise<Outcome>): Promise<Ended> {
  const { signal } = new AbortController();
  const notices: string[] = [];
  const control: RunControl = {
    interruption: {
      signal,
      now: signal,
      by: () => undefined,
      sinceMs: () => 0,
      recordedIn: () => undefined,
      stop: () => undefined,
      extendEnd: () => undefined,
    },
    onProgress: (event) => {
      if (event.kind === "notice") notices.push(event.text);
    },
  };
  try {
    const { exitCode, document, text } = await run(control);
    return { code: exitCode, document, text: text(PLAIN), notices: notices.join("\n") };
  } catch (error) {
    if (!(error instanceof GauntletError)) throw error;
    return { code: error.exit, document: undefined, text: error.message, notices: notices.join("\n") };
  }
}
