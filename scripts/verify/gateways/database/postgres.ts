import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, run, startProgram, type User } from "../program.ts";

export interface Postgres extends AsyncDisposable {
  /** Of a separate empty database. */
  readonly url: string;
  /** Runs a script. @throws when a statement fails */
  sql(script: string): void;
}

/** Where Debian and its derivatives keep the server's programs, in addition to the PATH. */
const DEBIAN = "/usr/lib/postgresql";

/** @returns the folder with initdb, postgres and psql. */
function programs(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, "bin")) : [];
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...versions.reverse()];
  return folders.find((folder) => ["initdb", "postgres", "psql"].every((name) => existsSync(join(folder, name))));
}

/** Postgres refuses to run as root. @returns undefined if no other user exists to run it as. */
function user(): User | "own" | undefined {
  if (process.getuid?.() !== 0) return "own";
  const idOf = (option: string) =>
    Number.parseInt(spawnSync("id", [option, "postgres"], { encoding: "utf8" }).stdout, 10);
  const found = { uid: idOf("-u"), gid: idOf("-g") };
  return Number.isNaN(found.uid) || Number.isNaN(found.gid) ? undefined : found;
}

/** @returns why Postgres cannot run here. */
export function missingPostgres(): string | undefined {
  if (programs() === undefined)
    return "Postgres is missing: neither initdb, postgres and psql in PATH nor Debian's package";
  if (user() === undefined) return "Postgres is not run as root, and the user postgres does not exist";
  return undefined;
}

/** Starts a server with an empty database on loopback; its data are deleted when it ends. */
export async function startPostgres(logs: string): Promise<Postgres> {
  const bin = programs() ?? "";
  const owner = user();
  const as = owner === "own" ? undefined : owner;
  const folder = mkdtempSync(join(tmpdir(), "gauntlet-verify-postgres-"));
  if (as !== undefined) chownSync(folder, as.uid, as.gid);
  const data = join(folder, "data");
  const port = await freePort(0);
  run([join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "litellm", "--no-sync"], { cwd: folder, user: as });
  const settings = ["-c", "listen_addresses=127.0.0.1", "-c", `unix_socket_directories=${folder}`, "-c", "fsync=off"];
  const program = startProgram({
    name: "postgres",
    command: [join(bin, "postgres"), "-D", data, "-p", String(port), ...settings],
    cwd: folder,
    logs,
    user: as,
    // Closes connections; a gentler signal would wait for them.
    endsBy: "SIGINT",
  });
  const psql = (database: string, script: string) => {
    const to = ["-h", "127.0.0.1", "-p", String(port), "-U", "litellm", "-d", database];
    run([join(bin, "psql"), "-q", "-v", "ON_ERROR_STOP=1", ...to], { cwd: folder, input: script });
  };
  const end = async () => {
    await program[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(() => psql("postgres", "select 1"));
    psql("postgres", "create database litellm");
  } catch (error) {
    await end();
    throw error;
  }
  return {
    url: `postgresql://litellm@127.0.0.1:${port}/litellm`,
    sql: (script) => psql("litellm", script),
    [Symbol.asyncDispose]: end,
  };
}

/** Maximum wait for the server to start, ms. */
const START_MS = 60_000;

/** It listens before it is ready: until then every connection gets an error. */
async function untilReady(ask: () => void): Promise<void> {
  for (const untilMs = Date.now() + START_MS; ; await sleep(200)) {
    try {
      return ask();
    } catch (error) {
      if (Date.now() > untilMs) throw error;
    }
  }
}
