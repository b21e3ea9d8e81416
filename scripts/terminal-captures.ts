// Captures the terminal while a command runs and after it has ended, as text: docs/examples/terminal-*.txt. Needs tmux and the
// build, and takes about three minutes. The machine should be idle.
//
//   npm run captures
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ROOT } from "./docs/generated-files.ts";

interface Capture {
  readonly name: string;
  readonly args: string;
  /** When the screen shows this, the middle of the run is captured. */
  readonly middle: RegExp;
}

const CAPTURES: readonly Capture[] = [
  {
    name: "conform",
    args: "conform auth errors limits --mutation auth.messages-with-any-key --target embedded",
    middle: /waiting \d+ s for/,
  },
  { name: "load", args: "load starter growth --brief --target embedded", middle: /over-rate-limit[^\n]*waiting/ },
];
const COLUMNS = [80, 140];
const ROWS = 30;
/** A longer run is aborted, ms. */
const MAX_MS = 600_000;
const LOOK_EVERY_MS = 500;
const ENDED = "the command has ended";

function tmux(socket: string, ...args: string[]): string {
  const done = spawnSync("tmux", ["-L", socket, ...args], { encoding: "utf8" });
  if (done.error !== undefined || done.status !== 0) throw new Error(`tmux ${args[0]}: ${done.stderr}`);
  return done.stdout;
}

/** Runs one command in a terminal with this many columns. @returns the screen during the run, and everything on it at the end. */
async function play({ name, args, middle }: Capture, columns: number): Promise<{ running: string; ended: string }> {
  const socket = `gauntlet-${name}-${columns}-${process.pid}`;
  const home = mkdtempSync(join(tmpdir(), "gauntlet-capture-"));
  const main = join(ROOT, "dist", "src", "main.js");
  const command = `cd ${home}; NO_COLOR=1 CI= ${process.execPath} ${main} ${args} --out run; echo ${ENDED}; sleep 600`;
  const session = ["new-session", "-d", "-s", "s", "-x", String(columns), "-y", String(ROWS), command];
  tmux(socket, "-f", "/dev/null", ...session);
  try {
    let running = "";
    const untilMs = performance.now() + MAX_MS;
    for (;;) {
      const screen = tmux(socket, "capture-pane", "-p", "-t", "s");
      if (running === "" && middle.test(screen)) running = screen;
      if (screen.includes(ENDED)) break;
      if (performance.now() > untilMs) throw new Error(`${name} at ${columns} columns did not end:\n${screen}`);
      await wait(LOOK_EVERY_MS);
    }
    if (running === "") throw new Error(`${name} at ${columns} columns never showed ${middle}`);
    return { running, ended: tmux(socket, "capture-pane", "-p", "-S", "-500", "-t", "s") };
  } finally {
    tmux(socket, "kill-server");
    rmSync(home, { recursive: true, force: true });
  }
}

/** Keys of a gateway that no longer exists unlock nothing, but look like a leak to anyone who scans the repository. */
const KEY = /gk-[\w-]{16,}/g;

const clean = (screen: string): string => screen.replace(`${ENDED}\n`, "").replace(KEY, "gk-…").trimEnd();

await Promise.all(
  CAPTURES.flatMap((capture) =>
    COLUMNS.map(async (columns) => {
      const { running, ended } = await play(capture, columns);
      const file = join(ROOT, "docs", "examples", `terminal-${capture.name}-${columns}.txt`);
      const head = `$ gauntlet ${capture.args}        (${columns} columns)`;
      writeFileSync(
        file,
        `${head}\n\n=== while it runs\n\n${clean(running)}\n\n=== at the end\n\n${clean(ended)}\n`.replace(
          /[ \t]+$/gm,
          "",
        ),
      );
    }),
  ),
);
