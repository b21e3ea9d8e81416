import type { ChildProcess } from "node:child_process";

/** Length of one turn, ms. */
const TURN_MS = 100;

/**
 * Gives a process only a share of the time, as on a heavily overloaded machine: it is stopped for the rest of every turn. Uses no
 * CPU time, whereas a real load would disturb other tests.
 */
export function slowed(child: ChildProcess, share: number): Disposable {
  const signal = (name: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(name);
  };
  let resuming: NodeJS.Timeout | undefined;
  const turn = () => {
    signal("SIGSTOP");
    resuming = setTimeout(() => signal("SIGCONT"), TURN_MS * (1 - share));
  };
  const timer = setInterval(turn, TURN_MS);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      clearTimeout(resuming);
      signal("SIGCONT");
    },
  };
}
