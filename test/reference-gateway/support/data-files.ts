import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import Database from "libsql";
import type { ReadyLine } from "../../../src/reference-gateway/index.ts";
import { MAIN, temporaryFolder } from "../../support/gauntlet.ts";
import { sendTo } from "./client.ts";
import { CHAT } from "./gateway-fixture.ts";

/** Runs one query on a data file, even if a gateway has it open: on a copy of the file and its log. */
export function query<Row>(file: string, sql: string): Row[] {
  using folder = temporaryFolder();
  const copy = join(folder.path, "copy.db");
  copyFileSync(file, copy);
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
  const db = new Database(copy);
  try {
    return db.prepare(sql).all() as Row[];
  } finally {
    db.close();
  }
}

/** Waits until the query finds something in the file. */
export async function untilSaved(file: string, sql: string): Promise<void> {
  while (query(file, sql).length === 0) await pause(20);
}

interface Limits {
  /** Shell commands before it is started, such as `ulimit -f 400`. */
  readonly limits?: string;
}

/** `gauntlet gateway --data FILE` in a separate process that is ready. */
export async function startProcess(file: string, options: readonly string[] = [], { limits = ":" }: Limits = {}) {
  const command = [`${limits}; exec "$0" "$@"`, process.execPath, MAIN, "gateway", "--data", file, ...options];
  const child = spawn("sh", ["-c", ...command], { stdio: ["ignore", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (bytes) => {
    stderr += bytes;
  });
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, stderr }));
  const line = once(createInterface({ input: child.stdout }), "line");
  const first = await Promise.race([line, ended]);
  if (!Array.isArray(first)) throw new Error(`the gateway did not start: ${first.stderr}`);
  const ready = JSON.parse(String(first[0])) as ReadyLine;
  return {
    ready,
    chat: (key: string) => sendTo(ready.baseUrl, { path: "/chat/completions", key, body: CHAT }),
    // biome-ignore lint/suspicious/noExplicitAny: bodies are compared with literals, member by member
    async admin(method: string, path: string, body?: unknown): Promise<any> {
      const reply = await sendTo(ready.adminUrl, { method, path, key: ready.adminToken, body });
      return JSON.parse(reply.bytes.toString());
    },
    /** Everything on stderr so far. */
    printed: () => stderr,
    async end(signal: "SIGTERM" | "SIGKILL") {
      child.kill(signal);
      return ended;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) child.kill("SIGKILL");
      await ended;
    },
  };
}
