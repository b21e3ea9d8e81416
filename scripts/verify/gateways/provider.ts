import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { MAIN } from "../../../test/support/gauntlet.ts";
import { type Program, startProgram } from "./program.ts";

/**
 * How the provider behind every gateway is started: the reference gateway, with limits that are never reached and a model that is
 * silent for longer than any client waits. `examples/README.md` shows the same.
 */
export const PROVIDER_OPTIONS = "--limits 600000:10000 --upstream-timeout 60000";

/** How its streams are interrupted: the connection is reset, or the stream ends properly and too early, both without an error. */
export const CUTS = {
  connection: "--variant errors.cut-stream-without-item",
  end: "--mutation upstream.cut-without-word",
} as const;

export interface ProviderOptions {
  readonly port: number;
  /** The operator's key. */
  readonly key: string;
  readonly cut: keyof typeof CUTS;
  readonly folder: string;
  readonly logs: string;
}

export async function startProvider({ port, key, cut, folder, logs }: ProviderOptions): Promise<Program> {
  const keys = join(folder, "provider-keys.json");
  writeFileSync(keys, JSON.stringify({ valid: key }), { mode: 0o600 });
  const options = ["--port", String(port), "--keys", keys, ...`${PROVIDER_OPTIONS} ${CUTS[cut]}`.split(" ")];
  const program = startProgram({
    name: "provider",
    command: [process.execPath, MAIN, "gateway", ...options],
    cwd: folder,
    logs,
  });
  await program.untilReady(`http://127.0.0.1:${port}/v1/models`, 20_000, { authorization: `Bearer ${key}` });
  return program;
}

export interface ScriptedProviderOptions {
  readonly port: number;
  readonly controlPort: number;
  /** The control token. */
  readonly token: string;
  readonly folder: string;
  readonly logs: string;
}

/** Starts `gauntlet upstream` with one provider, for any model; checks script its responses. */
export async function startScriptedProvider(options: ScriptedProviderOptions): Promise<Program> {
  const { port, controlPort, token, folder, logs } = options;
  const ports = ["--port", String(port), "--control-port", String(controlPort)];
  const program = startProgram({
    name: "upstream",
    command: [process.execPath, MAIN, "upstream", ...ports, "--control-token", "env:UPSTREAM_TOKEN"],
    cwd: folder,
    logs,
    env: { UPSTREAM_TOKEN: token },
  });
  const control = `http://127.0.0.1:${controlPort}/usage`;
  await program.untilReady(control, 20_000, { authorization: `Bearer ${token}` });
  return program;
}
