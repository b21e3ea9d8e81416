import { existsSync } from "node:fs";
import { RunFolder } from "../../record/index.ts";
import type { Target } from "../../target/index.ts";
import type { Interruption } from "../control/index.ts";
import { defaultFolder } from "./open-target.ts";

/**
 * Opens the folder of a run. If it becomes unwritable, the run ends as on a signal, and says so.
 *
 * @throws UsageError when the folder cannot be created, or was given explicitly and already holds a run.
 */
export function openFolder(
  named: string | undefined,
  startedAt: Date,
  target: Pick<Target, "name">,
  interruption: Interruption,
): RunFolder {
  const onIoError = () => interruption.stop();
  const open = (path: string) => {
    const folder = new RunFolder(path, onIoError);
    interruption.recordedIn(path);
    return folder;
  };
  if (named !== undefined) return open(named);
  const usual = defaultFolder(startedAt, target);
  // Concurrent runs, such as those of a CI matrix, may begin in the same millisecond.
  for (let attempt = 1; ; attempt++) {
    const path = attempt === 1 ? usual : `${usual}-${attempt}`;
    try {
      return open(path);
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !existsSync(path)) throw error;
    }
  }
}

const MAX_ATTEMPTS = 20;
