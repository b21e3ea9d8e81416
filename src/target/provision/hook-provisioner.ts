import { dirname, resolve } from "node:path";
import { ConfigError, isObject, maskLikely } from "../../core/index.ts";
import { Key } from "../key.ts";
import type { Provisioner } from "./provisioner.ts";
import { runCommand } from "./run-command.ts";

export interface HookOptions {
  /** Command line, run by the shell in the folder of the target file. */
  readonly command: string;
  /** Target file, for messages and as the working directory. */
  readonly file: string;
  readonly runId: string;
  /** Timeout of one call, ms; default 60,000. */
  readonly timeoutMs?: number;
}

/** Exit code of a hook for an unknown state. */
const UNKNOWN_STATE = 3;

/**
 * The operator's provisioning hook. Gets `{"state": "...", "runId": "..."}` on stdin and prints `{"key": "..."}`. It exits with
 * 0 when it created the state, with 3 when the state is unknown; anything else is a failure. At the end of the run it gets
 * `{"release": true, "runId": "..."}` and exits with 0 when it deleted everything that it created for that run.
 */
export function hookProvisioner({ command, file, runId, timeoutMs = 60_000 }: HookOptions): Provisioner {
  let made = 0;
  const settings = { folder: dirname(resolve(file)), timeoutMs, maxBytes: 100_000 };
  return {
    attestation: "hook",
    async fresh(state, signal) {
      const outcome = await runCommand(command, { ...settings, input: JSON.stringify({ state, runId }), signal });
      if (outcome.code === UNKNOWN_STATE) return undefined;
      const key = outcome.code === 0 ? keyIn(outcome.stdout) : undefined;
      if (key !== undefined) return new Key(`hook.${state}.${++made}`, key);
      throw new ConfigError([
        {
          file,
          path: "provision.command",
          message: `the hook did not make the state "${state}": ${outcome.why ?? `exit ${outcome.code}`}.`,
          hint: `It must print {"key": "…"} and end with 0, or end with ${UNKNOWN_STATE} for a state that it does not know. ${maskLikely(outcome.stderr.slice(-300))}`,
        },
      ]);
    },
    async release() {
      const never = new AbortController().signal;
      const input = JSON.stringify({ release: true, runId });
      const { code } = await runCommand(command, { ...settings, input, signal: never });
      return code === 0;
    },
  };
}

/** The output is not quoted in messages: it holds a key, or something meant to be one. */
function keyIn(stdout: string): string | undefined {
  try {
    const output: unknown = JSON.parse(stdout);
    const key = isObject(output) ? output["key"] : undefined;
    return typeof key === "string" && key !== "" ? key : undefined;
  } catch {
    // Not JSON: the caller reports what was expected.
    return undefined;
  }
}
