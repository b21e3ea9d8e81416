import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Gateway, ProgramPlace } from "./gateway.ts";
import { type Program, run, startProgram } from "./program.ts";

/** From 1.14 on, @hono/node-server turns every streamed response into a 500, "TypeError: immutable". */
const PACKAGES = ["@portkey-ai/gateway@1.15.2", "@hono/node-server@1.13.8", "hono@4.9.7"];

const SERVER = "node_modules/@portkey-ai/gateway/build/start-server.js";
const LOOPBACK = fileURLToPath(new URL("loopback.cjs", import.meta.url));

export const portkey: Gateway = {
  name: "portkey",
  title: "Portkey",
  port: 9210,
  setUp: "before",
  cut: "connection",
  profiles: ["chat", "messages", "streaming", "http", "openai-sdk", "anthropic-sdk"],
  missing: () => undefined,
  install: (tools) => installFromNpm(join(tools, "portkey"), PACKAGES, ["--legacy-peer-deps"]),
  start: startPortkey,
};

/** Portkey, which takes its whole configuration from the headers of each request. */
export async function startPortkey({ tools, logs, port }: ProgramPlace): Promise<Program> {
  const program = startProgram({
    name: "portkey",
    command: [process.execPath, "-r", LOOPBACK, SERVER, "--headless", `--port=${port}`],
    cwd: join(tools, "portkey"),
    logs,
  });
  await program.untilReady(`http://127.0.0.1:${port}/`, 30_000);
  return program;
}

/** Installs exact versions into a folder, once. */
export function installFromNpm(folder: string, packages: readonly string[], options: readonly string[] = []): void {
  if (existsSync(join(folder, "node_modules"))) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--save-exact"];
  run(["npm", "install", ...quiet, ...options, ...packages], { cwd: folder });
}
