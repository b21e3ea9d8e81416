// Set-up shared by `npm start` and `npm test`: installs from the lockfile if node_modules is missing or older, then builds. Plain
// Node without dependencies, because it runs before anything is installed.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`gauntlet needs Node 20.19 or newer; this is ${process.versions.node}.\n`);
  process.exit(2);
}

/** npm writes node_modules/.package-lock.json last, so its mtime shows when the installation finished. */
function needsInstall() {
  const done = join(root, "node_modules", ".package-lock.json");
  return !existsSync(done) || statSync(done).mtimeMs < statSync(join(root, "package-lock.json")).mtimeMs;
}

function run(what, command, args) {
  // Output goes to stderr: stdout belongs to the command that follows (`npm start --silent -- conform --json`).
  const done = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
  if (done.status !== 0) {
    process.stderr.write(
      `gauntlet: ${what} failed (${done.error?.message ?? `exit ${done.status ?? done.signal}`}).\n`,
    );
    process.exit(done.status ?? 5);
  }
}

export function makeReady() {
  if (needsInstall()) {
    process.stderr.write("gauntlet: installing dependencies from the lockfile (once)…\n");
    run("npm ci", "npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  }
  run("the build", process.execPath, [
    join(root, "node_modules", "typescript", "bin", "tsc"),
    "-p",
    "tsconfig.build.json",
  ]);
  run("the bundle", process.execPath, [join(root, "scripts", "bundle.mjs")]);
}

/** Runs a child with our stdio until it ends; forwards our signals to it, so that it can write its report. */
export async function runChild(command, args) {
  const { spawn } = await import("node:child_process");
  const child = spawn(command, args, { cwd: process.cwd(), stdio: "inherit" });
  // A terminal already sends Ctrl-C to the whole group; the child must stay alive to handle it, and so must we.
  const wait = () => {};
  const end = () => child.kill("SIGTERM");
  process.on("SIGINT", wait).on("SIGTERM", end);
  const [code, signal] = await new Promise((done) => child.on("exit", (...how) => done(how)));
  process.off("SIGINT", wait).off("SIGTERM", end);
  process.exitCode = code ?? (signal === "SIGINT" ? 130 : 143);
}
