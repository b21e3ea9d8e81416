// Captures the terminal while typical commands run and after they have ended, as text: docs/examples/terminal-*.txt. Needs tmux,
// taskset and the build, and takes about eight minutes. The machine should be idle.
//
//   npm run captures [NAME…]
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startGauntlet } from "../test/support/gauntlet.ts";
import { ROOT } from "./docs/generated-files.ts";

interface Capture {
  readonly name: string;
  readonly args: string;
  /** When the screen shows this, the middle of the run is captured; absent: only its end. */
  readonly middle?: RegExp;
  /** Commands before it, in the same folder; their output is not shown. */
  readonly before?: readonly string[];
  /** Other processes use its core. */
  readonly isBusy?: true;
  /** One width after the other: it loads the machine too much for two at a time. */
  readonly isExclusive?: true;
  /** The end of what it must print. */
  readonly ends: RegExp;
}

const MUTATION = "--mutation auth.messages-with-any-key";
const GATEWAY = "gauntlet gateway --pieces 6 --limits 60000:1000";
const BUILDS = `--start-a "${GATEWAY} --pace 20" --start-b "${GATEWAY} --pace 26 --mutation chat.usage-missing"`;
const PAIRS = "--pairs 10 --block-s 3 --rate 40 --suites chat --suites models --seed 1";

/** Each capture is for one question that users have; `ends` matches the conclusion in the last lines. */
const CAPTURES: readonly Capture[] = [
  {
    name: "conform",
    args: `conform auth errors limits ${MUTATION} --target embedded`,
    middle: /waiting \d+ s for/,
    ends: /exit code 1/,
  },
  { name: "conform-pass", args: "conform --quick --target embedded", ends: /exit code 0/ },
  { name: "conform-one-key", args: "conform --quick --target one-key.yaml", ends: /exit code 4/ },
  { name: "doctor", args: "doctor --target one-key.yaml", ends: /Ready to run/ },
  {
    name: "load",
    args: "load starter growth --brief --target embedded",
    middle: /over-rate-limit[^\n]*waiting/,
    ends: /exit code 0/,
    isExclusive: true,
  },
  { name: "load-thresholds", args: "load workload.yaml --target embedded", ends: /exit code 0/ },
  {
    name: "load-crossed",
    args: "load workload.yaml --target embedded --mutation load.502-page-now-and-then",
    ends: /exit code 1/,
  },
  { name: "load-busy", args: "load fast.yaml --target embedded", isBusy: true, ends: /exit code 4/ },
  {
    name: "capacity",
    args: 'capacity --target embedded --account limited.1 --streams --objective "ttft_ms p95 < 800" --from 2 --to 8 --step-s 5',
    ends: /exit code \d/,
  },
  { name: "size", args: "size workload.yaml", ends: /smallest tier/ },
  { name: "compare", args: `compare ${BUILDS} ${PAIRS}`, ends: /exit code 1/ },
  {
    name: "history",
    before: ["a", "b"].map((run) => `conform models --target embedded --out runs/${run}`),
    args: "history runs",
    ends: /COLLECTING: /,
  },
];
const WORKLOAD = `name: steady
arrivals: { kind: constant, ratePerS: 40, durationS: 30 }
mix: [{ dialect: chat }, { dialect: chat, stream: true }, { dialect: messages, stream: true }]
thresholds:
  - ttft_ms{stream=true} p95 < 800
  - failed < 0.5 %
`;
const FAST = `name: fast
arrivals: { kind: constant, ratePerS: 1500, durationS: 5 }
allow: { deniedShare: 1 }
thresholds: ["failed < 0.5 %"]
`;
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

/** A program named `gauntlet`, so that what a command prints does not name this machine's folders. */
const PROGRAM = `#!/bin/sh\nexec ${process.execPath} ${join(ROOT, "dist", "src", "main.js")} "$@"\n`;

/** Runs one command in a terminal with this many columns. @returns the screen during the run, and everything on it at the end. */
async function play(capture: Capture, columns: number, own: OwnGateway): Promise<{ running: string; ended: string }> {
  const { name, args, middle, before = [], isBusy } = capture;
  const socket = `gauntlet-${name}-${columns}-${process.pid}`;
  const home = mkdtempSync(join(tmpdir(), "gauntlet-capture-"));
  mkdirSync(join(home, "bin"));
  writeFileSync(join(home, "bin", "gauntlet"), PROGRAM, { mode: 0o755 });
  writeFileSync(join(home, "workload.yaml"), WORKLOAD);
  writeFileSync(join(home, "fast.yaml"), FAST);
  writeFileSync(join(home, "one-key.yaml"), own.target);
  const out = TAKES_NO_FOLDER.includes(args.split(" ")[0] ?? "") ? "" : " --out run";
  const command = [
    `cd ${home}; export PATH=${home}/bin:$PATH NO_COLOR=1 CI= GW_KEY=${own.key}`,
    ...before.map((one) => `gauntlet ${one} > /dev/null 2>&1`),
    `clear; ${isBusy ? "taskset -c 0 " : ""}gauntlet ${args}${out}`,
    `echo ${ENDED}; sleep 600`,
  ].join("; ");
  const neighbours: ChildProcess[] = isBusy
    ? Array.from({ length: 4 }, () => spawn("taskset", ["-c", "0", process.execPath, "-e", "for (;;);"]))
    : [];
  tmux(socket, "-f", "/dev/null", "new-session", "-d", "-s", "s", "-x", `${columns}`, "-y", `${ROWS}`, command);
  try {
    let running = "";
    const untilMs = performance.now() + MAX_MS;
    for (;;) {
      const screen = tmux(socket, "capture-pane", "-p", "-t", "s");
      if (running === "" && middle?.test(screen)) running = screen;
      if (screen.includes(ENDED)) break;
      if (performance.now() > untilMs) throw new Error(`${name} at ${columns} columns did not end:\n${screen}`);
      await wait(LOOK_EVERY_MS);
    }
    if (middle !== undefined && running === "") throw new Error(`${name} at ${columns} columns never showed ${middle}`);
    const ended = tmux(socket, "capture-pane", "-p", "-S", "-500", "-t", "s");
    if (!capture.ends.test(ended)) throw new Error(`${name} at ${columns} columns ended with:\n${ended}`);
    return { running, ended };
  } finally {
    tmux(socket, "kill-server");
    for (const neighbour of neighbours) neighbour.kill("SIGKILL");
    rmSync(home, { recursive: true, force: true });
  }
}

const TAKES_NO_FOLDER: readonly string[] = ["doctor", "history"];

/** Keys of a gateway that no longer exists unlock nothing, but look like a leak to anyone who scans the repository. */
const KEY = /gk-[\w-]{16,}/g;

const clean = (screen: string): string => screen.replace(`${ENDED}\n`, "").replace(KEY, "gk-…").trimEnd();

/** A gateway of which one key is known. */
interface OwnGateway {
  readonly target: string;
  readonly key: string;
}

const gateway = startGauntlet(["gateway", "--limits", "6000:256"]);
const { baseUrl, keys } = JSON.parse(await gateway.printed("\n"));
const target = `name: staging\nbaseUrl: ${baseUrl}\nkeys: { valid: env:GW_KEY }\nmodels: { chat: echo-fast }\n`;
const chosen = CAPTURES.filter(({ name }) => process.argv.length === 2 || process.argv.includes(name));
try {
  for (const capture of chosen) {
    const take = async (columns: number) => {
      const { running, ended } = await play(capture, columns, { target, key: keys.valid });
      const file = join(ROOT, "docs", "examples", `terminal-${capture.name}-${columns}.txt`);
      const head = `$ gauntlet ${capture.args}        (${columns} columns)`;
      const middle = running === "" ? "" : `=== while it runs\n\n${clean(running)}\n\n=== at the end\n\n`;
      writeFileSync(file, `${head}\n\n${middle}${clean(ended)}\n`.replace(/[ \t]+$/gm, ""));
      process.stdout.write(`${relative(ROOT, file)}\n`);
    };
    if (capture.isExclusive === true) for (const columns of COLUMNS) await take(columns);
    else await Promise.all(COLUMNS.map(take));
  }
} finally {
  await gateway[Symbol.asyncDispose]();
}
