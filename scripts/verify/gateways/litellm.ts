import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { missingPostgres, type Postgres, startPostgres } from "./database/postgres.ts";
import type { Gateway, ProgramPlace } from "./gateway.ts";
import { installFromNpm } from "./portkey.ts";
import { type Program, run, startProgram } from "./program.ts";

const PACKAGES = ["litellm[proxy]==1.106.2", "prisma==0.15.0"];

/** The packages that `query-engine.ts` needs. */
const ENGINE_PACKAGES = [
  "@prisma/client@5.17.0",
  "@prisma/adapter-pg@5.17.0",
  "@prisma/driver-adapter-utils@5.17.0",
  "pg@8.13.1",
];

/** Nothing is downloaded, no telemetry is sent, and it logs little. */
const QUIET = {
  LITELLM_LOCAL_MODEL_COST_MAP: "True",
  LITELLM_TELEMETRY: "False",
  LITELLM_LOG: "ERROR",
  NO_DOCS: "True",
  PYTHONDONTWRITEBYTECODE: "1",
};

/** Milliseconds until it responds: 15 s on a machine with two cores. */
const START_MS = 180_000;

function quiet(tools: string): Readonly<Record<string, string>> {
  const home = join(tools, "home");
  mkdirSync(home, { recursive: true });
  return { ...QUIET, HOME: home };
}

const bin = (tools: string) => join(tools, "litellm", "bin");

/** The folder with its programs. */
export const litellmPrograms = bin;

/** Installs exact versions into an environment of its own, once. @param program that the packages bring, and name of the folder. */
export function installFromPypi(tools: string, program: string, ...packages: readonly string[]): void {
  const programs = join(tools, program, "bin");
  if (existsSync(join(programs, program))) return;
  mkdirSync(tools, { recursive: true });
  run(["python3", "-m", "venv", program], { cwd: tools });
  run([join(programs, "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", ...packages], {
    cwd: tools,
  });
}

const install = (tools: string) => installFromPypi(tools, "litellm", ...PACKAGES);

/** @returns why a Python program cannot run here. */
export function missingPython(): string | undefined {
  try {
    run(["python3", "-c", "import venv"], { cwd: "." });
  } catch {
    // Whatever the reason, nothing can be installed.
    return "Python 3 with venv is missing";
  }
  return undefined;
}

export async function startProxy(
  place: ProgramPlace,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<Program> {
  const program = startProgram({
    name,
    command: [
      join(bin(place.tools), "litellm"),
      "--config",
      "config.yaml",
      "--host",
      "127.0.0.1",
      "--port",
      String(place.port),
    ],
    cwd: place.example,
    logs: place.logs,
    env: { ...quiet(place.tools), ...place.env, ...env },
  });
  // Not /health: that sends a request to every model of every provider.
  await program.untilReady(`http://127.0.0.1:${place.port}/health/liveliness`, START_MS);
  return program;
}

/** What it has with and without a database. */
const PROFILES = [
  "chat",
  "messages",
  "models-and-auth",
  "denials",
  "limits",
  "streaming",
  "http",
  "openai-sdk",
  "anthropic-sdk",
];

export const litellmWithoutDatabase: Gateway = {
  name: "litellm-without-database",
  title: "LiteLLM without database",
  port: 9220,
  setUp: "before",
  cut: "end",
  profiles: PROFILES,
  missing: missingPython,
  install,
  start: (place) => startProxy(place, "litellm-without-database", {}),
};

export const litellm: Gateway = {
  name: "litellm",
  title: "LiteLLM",
  port: 9222,
  setUp: "after",
  cut: "end",
  profiles: [...PROFILES, "money"],
  missing: () => missingPython() ?? missingPostgres(),
  install(tools) {
    install(tools);
    installFromNpm(join(tools, "engine"), ENGINE_PACKAGES, ["--ignore-scripts"]);
    const engine = fileURLToPath(new URL("database/query-engine.ts", import.meta.url));
    const starter = `#!/bin/sh\nexec '${process.execPath}' --import '${import.meta.resolve("tsx")}' '${engine}' "$@"\n`;
    writeFileSync(engineOf(tools), starter, { mode: 0o755 });
    generateClient(tools);
  },
  async start(place) {
    const postgres = await startPostgres(place.logs);
    try {
      migrate(place.tools, postgres);
      const proxy = await startProxy(place, "litellm", litellmEnvironment(place.tools, postgres));
      return {
        ended: proxy.ended,
        async [Symbol.asyncDispose]() {
          await proxy[Symbol.asyncDispose]();
          await postgres[Symbol.asyncDispose]();
        },
      };
    } catch (error) {
      await postgres[Symbol.asyncDispose]();
      throw error;
    }
  },
};

/** What LiteLLM reads from the environment to use a database that `migrate` has prepared. */
export const litellmEnvironment = (tools: string, { url }: Postgres): Readonly<Record<string, string>> => ({
  ...quiet(tools),
  DATABASE_URL: url,
  DISABLE_SCHEMA_UPDATE: "true",
  ...engineSettings(tools),
});

const engineOf = (tools: string) => join(tools, "engine", "query-engine");

const engineSettings = (tools: string) => ({
  ENGINE_MODULES: join(tools, "engine"),
  PRISMA_QUERY_ENGINE_BINARY: engineOf(tools),
  PATH: `${bin(tools)}:${process.env["PATH"]}`,
});

function sitePackages(tools: string): string {
  const script = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
  return run([join(bin(tools), "python"), "-c", script], { cwd: tools }).trim();
}

/** Generates the client for LiteLLM's tables, as `prisma generate` does according to its documentation. */
function generateClient(tools: string): void {
  const packages = sitePackages(tools);
  if (existsSync(join(packages, "prisma", "client.py"))) return;
  const schema = readFileSync(join(packages, "litellm/proxy/schema.prisma"), "utf8");
  // Without platform names only the engine named here is looked for.
  writeFileSync(join(tools, "engine", "schema.prisma"), schema.replaceAll(/^.*binaryTargets.*\n/gm, ""));
  const home = join(tools, "home");
  mkdirSync(home, { recursive: true });
  const engine = engineOf(tools);
  run([join(bin(tools), "prisma"), "generate", "--schema", join(tools, "engine", "schema.prisma")], {
    cwd: tools,
    env: {
      ...engineSettings(tools),
      HOME: home,
      PRISMA_SCHEMA_ENGINE_BINARY: engine,
      PRISMA_QUERY_ENGINE_LIBRARY: engine,
    },
  });
}

/** Creates LiteLLM's tables, as `prisma migrate deploy` would. */
export function migrate(tools: string, postgres: Postgres): void {
  const folder = join(sitePackages(tools), "litellm_proxy_extras", "migrations");
  const scripts = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith("migration.sql"),
  );
  for (const script of scripts.sort()) postgres.sql(readFileSync(join(folder, script), "utf8"));
}
