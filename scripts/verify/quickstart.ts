// Runs what a new user types: the block of the README, verbatim, in an empty folder with the packed package. Needs the npm
// registry, and ports 8786 and 8787.
//
//   npm run verify quickstart [-- FOLDER]     FOLDER keeps the results; default: a temporary one
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import type { RunRecord } from "../../src/record/index.ts";
import { startBrowser } from "../../test/support/browser.ts";
import { recordProblems } from "../../test/support/record-schema.ts";
import { ROOT } from "../docs/generated-files.ts";
import { quickstartSteps } from "./quickstart/steps.ts";

/** For the block, seconds; it takes half a minute. A process that hangs is killed, and its log shown. */
const MAX_S = 150;
/** The processes that the block starts must exit within this time after it, ms. */
const ENDING_MS = 12_000;
const PORTS = [8786, 8787];
/** The step that judges exits with 4, as the README says; every other one with 0. */
const expectedExit = (step: string): number => (/ conform /.test(step) ? 4 : 0);

const [folderOption] = process.argv.slice(2);
const base = folderOption ?? mkdtempSync(join(tmpdir(), "gauntlet-verify-quickstart-"));
const home = join(base, "empty-folder");
const notes = join(base, "steps");
const problems: string[] = [];
// A new user has neither the settings of the npm that runs this nor one of our keys.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|GW_|(NODE_ENV|CI)$)/i.test(name)),
);

function problem(text: string): void {
  problems.push(text);
  console.log(`FAIL ${text}`);
}

async function isTaken(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  // Rejects on an error, such as a refused connection.
  const taken = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return taken;
}

function pack(): void {
  mkdirSync(home, { recursive: true });
  mkdirSync(notes, { recursive: true });
  if (readdirSync(home).length > 0) throw new Error(`${home} is not empty`);
  const packed = spawnSync("npm", ["pack", "--pack-destination", home], { cwd: ROOT, encoding: "utf8", env });
  if (packed.status !== 0) throw new Error(`npm pack ended with ${packed.status}\n${packed.stdout}${packed.stderr}`);
}

const logOf = (index: number): string => {
  const file = join(notes, `${index}.log`);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
};

/** Runs the steps in one shell, as if they were pasted, in a separate process group. */
async function play(steps: readonly string[]): Promise<void> {
  for (const [index, step] of steps.entries()) writeFileSync(join(notes, `${index}.sh`), `${step}\n`);
  // Read by the same shell: an exported variable is available in the next step.
  const script = steps
    .map((_, index) => `. "${notes}/${index}.sh" > "${notes}/${index}.log" 2>&1 < /dev/null; echo "${index} $?"`)
    .join("\n");
  const shell = spawn("bash", ["-c", script], { cwd: home, env, detached: true, stdio: ["ignore", "pipe", "inherit"] });
  const { pid } = shell;
  if (pid === undefined) throw new Error("bash is missing");
  const ended = once(shell, "exit");
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      if (living(pid).length > 0) process.kill(-pid, "SIGKILL");
      process.exit(1);
    });
  }
  const timer = setTimeout(() => shell.kill("SIGKILL"), MAX_S * 1_000);
  let done = 0;
  let atMs = performance.now();
  // Until the shell has exited, not until its output is closed: processes that it started may keep that open.
  const lines = createInterface({ input: shell.stdout });
  lines.on("line", (line) => {
    const [index = 0, code = 0] = line.split(" ").map(Number);
    const step = steps[index] ?? "";
    const tookS = ((performance.now() - atMs) / 1_000).toFixed(1).padStart(5);
    atMs = performance.now();
    done = index + 1;
    console.log(`${code === expectedExit(step) ? "ok  " : "FAIL"} ${tookS} s  exit ${code}  ${step.split("\n")[0]}`);
    if (code === expectedExit(step)) return;
    problems.push(`exit ${code}, not ${expectedExit(step)}: ${step}`);
    console.log(logOf(index).slice(-3_000));
  });
  await ended;
  clearTimeout(timer);
  if (done < steps.length) problem(`not done within ${MAX_S} s: ${steps[done]}\n${logOf(done).slice(-3_000)}`);
  await end(pid, done < steps.length ? 0 : ENDING_MS);
  lines.close();
  shell.stdout.destroy();
}

/** Processes of a group according to `ps`. A zombie counts as ended. */
function living(group: number): string[] {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pgid=,stat=,pid=,args="], { encoding: "utf8" });
  const lines = stdout.split("\n").map((line) => line.trim().split(/\s+/));
  return lines
    .filter(([id, state = ""]) => Number(id) === group && !state.startsWith("Z"))
    .map((words) => words.slice(2).join(" "));
}

async function untilEnded(group: number, patienceMs: number): Promise<readonly string[]> {
  const untilMs = performance.now() + patienceMs;
  while (living(group).length > 0 && performance.now() < untilMs) await wait(100);
  return living(group);
}

/** Waits this long until everything that the block started has ended, as its last step requests, and kills the rest. */
async function end(group: number, patienceMs: number): Promise<void> {
  const left = await untilEnded(group, patienceMs);
  if (left.length === 0) return;
  problem(`still running after the block:\n${left.join("\n")}`);
  process.kill(-group, "SIGKILL");
  await untilEnded(group, ENDING_MS);
}

function numbersOf({ checks }: RunRecord): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const { status } of checks) numbers.set(status, (numbers.get(status) ?? 0) + 1);
  return numbers;
}

/** The output and the results of the steps, read from the record and, as a person would, from the report in a browser. */
async function readBack(steps: readonly string[]): Promise<void> {
  const said = (word: string) => logOf(steps.findIndex((step) => step.includes(` ${word}`)));
  if (!said("doctor").includes("Ready to run")) problem(`doctor says:\n${said("doctor")}`);
  const folder = join(home, "first-run");
  for (const name of ["run.json", "report.html"]) {
    if (existsSync(join(folder, name))) continue;
    problem(`first-run/${name} is missing`);
    return;
  }
  for (const complaint of recordProblems(folder)) problem(complaint);
  const record = JSON.parse(readFileSync(join(folder, "run.json"), "utf8")) as RunRecord;
  const numbers = numbersOf(record);
  for (const bad of ["fail", "flaky", "harness-error"] as const) {
    const ids = record.checks.filter(({ status }) => status === bad).map(({ id, message }) => `${id}: ${message}`);
    if (ids.length > 0) problem(`${bad} is not what is known of this gateway:\n${ids.join("\n")}`);
  }
  const counts = [...numbers].map(([status, number]) => `${number} ${status}`);
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(`file://${join(folder, "report.html")}`);
    const shown = (await page.locator("#verdict").innerText()).toLowerCase();
    for (const text of [record.verdict.result, "portkey", ...counts])
      if (!shown.includes(text)) problem(`the report does not show "${text}" next to its verdict`);
  } finally {
    await browser.close();
  }
  for (const text of counts) if (!said("conform").includes(text)) problem(`the terminal does not show "${text}"`);
  console.log(`${record.verdict.headline}: ${counts.join(", ")}`);
}

async function main(): Promise<void> {
  for (const port of PORTS) if (await isTaken(port)) problem(`port ${port}, which the README uses, is taken`);
  if (problems.length > 0) return;
  const steps = quickstartSteps();
  pack();
  const startedMs = performance.now();
  await play(steps);
  const tookS = ((performance.now() - startedMs) / 1_000).toFixed(1);
  await readBack(steps);
  for (const port of PORTS) if (await isTaken(port)) problem(`port ${port} is still served`);
  console.log(
    `${steps.length} steps from an empty folder to a report in ${tookS} s, ${problems.length} not as they should be`,
  );
}

await main();
if (folderOption === undefined) rmSync(base, { recursive: true, force: true });
process.exitCode = problems.length === 0 ? 0 : 1;
