import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import { MAIN } from "../../../test/support/gauntlet.ts";
import { litellmWithoutDatabase, startProxy } from "../gateways/litellm.ts";
import { portkey, startPortkey } from "../gateways/portkey.ts";
import { freePort, type Program, startProgram } from "../gateways/program.ts";

/** Two providers of `gauntlet upstream`. */
export interface Upstream {
  readonly names: readonly string[];
  /** Base addresses, each ending in /v1. */
  readonly addresses: readonly string[];
  readonly controlUrl: string;
}

export interface Surroundings {
  readonly folder: string;
  readonly logs: string;
  readonly upstream: Upstream;
}

interface Started extends AsyncDisposable {
  /** Its target file, without the section about the upstream. */
  readonly target: Readonly<Record<string, unknown>>;
}

/** A gateway configured with two providers: if the first one fails, it sends to the second. */
export interface InFront {
  readonly name: string;
  readonly title: string;
  /** As its claim in docs/matrix names it, and its version; the reference gateway is of the same build as the measurement. */
  readonly claim: { readonly name: string; readonly version?: string };
  /** Maximum number of provider requests for one client request, according to its configuration. */
  readonly attempts: number;
  missing(): string | undefined;
  install(folder: string): void;
  start(surroundings: Surroundings): Promise<Started>;
}

/** The operator's key at the providers: they accept any. */
const PROVIDER_KEY = `sk-provider-${randomBytes(16).toString("hex")}`;
process.env["PROVIDER_KEY"] = PROVIDER_KEY;

const MODEL = "upstream-model";
const START_MS = 20_000;

const started = (program: Program, target: Started["target"]): Started => ({
  target,
  [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
});

const reference: InFront = {
  name: "reference",
  title: "reference gateway",
  claim: { name: "embedded reference gateway" },
  attempts: 2,
  missing: () => undefined,
  install: () => undefined,
  async start({ folder, logs, upstream }) {
    const providers = upstream.addresses.flatMap((url) => ["--upstream", url, "--upstream-key", "env:PROVIDER_KEY"]);
    const program = startProgram({
      name: "reference",
      command: [process.execPath, MAIN, "gateway", "--limits", "600000:10000", ...providers],
      cwd: folder,
      logs,
    });
    for (
      const untilMs = Date.now() + START_MS;
      Date.now() < untilMs && program.ended() === undefined;
      await sleep(50)
    ) {
      const [line = ""] = readFileSync(program.log, "utf8").split("\n");
      if (!line.endsWith("}")) continue;
      const { baseUrl, keys } = JSON.parse(line) as {
        readonly baseUrl: string;
        readonly keys: { readonly valid: string };
      };
      process.env["REFERENCE_KEY"] = keys.valid;
      return started(program, {
        baseUrl,
        keys: { valid: "env:REFERENCE_KEY" },
        models: { chat: MODEL, messages: MODEL },
      });
    }
    await program[Symbol.asyncDispose]();
    throw new Error(`the reference gateway did not start: ${program.ended() ?? ""}`);
  },
};

/** LiteLLM with a master key and without a database: two deployments of one model, and up to two retries. */
const liteLlm: InFront = {
  name: "litellm",
  title: "LiteLLM 1.106.2",
  claim: { name: "litellm-without-database", version: "1.106.2" },
  attempts: 3,
  missing: litellmWithoutDatabase.missing,
  install: litellmWithoutDatabase.install,
  async start({ folder, logs, upstream }) {
    const port = await freePort(9220);
    const home = join(folder, "litellm-in-front");
    mkdirSync(home, { recursive: true });
    const deployments = upstream.addresses.flatMap((address) => [
      { model_name: MODEL, litellm_params: { ...own("openai"), api_base: address } },
      {
        model_name: `claude/${MODEL}`,
        litellm_params: { ...own("anthropic"), api_base: address.replace(/\/v1$/, "") },
      },
    ]);
    const config = {
      model_list: deployments,
      litellm_settings: { num_retries: 2, telemetry: false },
      router_settings: { num_retries: 2, disable_cooldowns: true },
    };
    writeFileSync(join(home, "config.yaml"), stringify(config));
    const key = `sk-${randomBytes(16).toString("hex")}`;
    process.env["LITELLM_KEY"] = key;
    const env = { LITELLM_MASTER_KEY: key, PROVIDER_KEY };
    const program = await startProxy({ example: home, tools: folder, logs, port, env }, "litellm-in-front", {});
    return started(program, {
      baseUrl: `http://127.0.0.1:${port}/v1`,
      keys: { valid: "env:LITELLM_KEY" },
      models: { chat: MODEL, messages: `claude/${MODEL}` },
      contract: { reasonFrom: "/error/type", actionHint: false },
    });
  },
};

const own = (provider: string) => ({
  model: `${provider}/${MODEL}`,
  api_key: "os.environ/PROVIDER_KEY",
  timeout: 60,
  max_retries: 0,
});

/** Portkey, whose configuration is sent with each request: the second provider if the first one fails, no retries. */
const portkeyInFront: InFront = {
  name: "portkey",
  title: "Portkey 1.15.2",
  claim: { name: "portkey", version: "1.15.2" },
  attempts: 2,
  missing: portkey.missing,
  install: portkey.install,
  async start({ folder, logs, upstream }) {
    const port = await freePort(9210);
    const program = await startPortkey({ example: folder, tools: folder, logs, port, env: {} });
    const [first = ""] = upstream.addresses;
    const headerOf = (provider: string): string => {
      const targets = upstream.addresses.map((address) => ({ provider, custom_host: address, api_key: PROVIDER_KEY }));
      const file = join(folder, `portkey-${provider}.json`);
      const config = { strategy: { mode: "fallback", on_status_codes: [401, 402, 429, 500, 502, 503, 529] }, targets };
      writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
      return `file:${file}`;
    };
    return started(program, {
      baseUrl: `http://127.0.0.1:${port}/v1`,
      keys: { valid: "env:PORTKEY_KEY" },
      models: { chat: MODEL, messages: MODEL },
      extraHeaders: {
        models: { "x-portkey-provider": "openai", "x-portkey-custom-host": first },
        chat: { "x-portkey-config": headerOf("openai") },
        messages: { "x-portkey-config": headerOf("anthropic") },
      },
    });
  },
};

// It stores no keys: any works, so this one is the caller's own.
process.env["PORTKEY_KEY"] = `pk-${randomBytes(16).toString("hex")}`;

export const IN_FRONT: readonly InFront[] = [reference, liteLlm, portkeyInFront];
