import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "../core/index.ts";
import { parseTarget } from "../target/index.ts";
import { CI_JOBS } from "./ci-jobs.ts";

/** What `gauntlet init` needs to know. Empty texts leave a line commented out. */
export interface InitAnswers {
  readonly baseUrl: string;
  readonly name: string;
  readonly model: string;
  readonly messagesModel: string;
  /** A tier, or RPM:INFLIGHT. */
  readonly limits: string;
}

export interface InitOptions {
  readonly answers: InitAnswers;
  /** CI job to write; `none` writes none. */
  readonly ci: keyof typeof CI_JOBS | "none";
  /** Overwrite files that are there. */
  readonly force: boolean;
}

/** Default of the base address. */
export const DEFAULT_BASE_URL = "http://127.0.0.1:8080/v1";

/** Default of the name in reports. */
export function defaultName(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : "gateway";
}

/**
 * Writes a commented `gauntlet.yaml`, `.env.example`, `gauntlet-policy.yaml` and a CI job. No key is ever asked for or
 * written: keys belong into the environment.
 *
 * @returns paths of the files.
 * @throws ConfigError when the answers make no target file, UsageError when a file is there already.
 */
export function init({ answers, ci, force }: InitOptions): string[] {
  const files = filesOf(answers, ci);
  // Our own reader judges what was answered, before anything is written.
  const target = files.find(({ path }) => path === "gauntlet.yaml")?.text ?? "";
  parseTarget(target, "gauntlet.yaml", { GW_KEY: "to-be-set" });
  const there = files.filter(({ path }) => existsSync(path)).map(({ path }) => path);
  if (there.length > 0 && !force) {
    throw new UsageError(`${there.join(", ")} already exist${there.length === 1 ? "s" : ""}`, {
      hint: "Add --force to overwrite, or go to another folder.",
    });
  }
  for (const { path, text } of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return files.map(({ path }) => path);
}

function filesOf(answers: InitAnswers, ci: InitOptions["ci"]): { readonly path: string; readonly text: string }[] {
  return [
    { path: "gauntlet.yaml", text: targetFile(answers) },
    { path: ".env.example", text: ENVIRONMENT },
    { path: "gauntlet-policy.yaml", text: POLICY },
    ...(ci === "none" ? [] : [CI_JOBS[ci]]),
  ];
}

/** Path of the program in a project that has it installed. */
const INSTALLED = "./node_modules/.bin/gauntlet";

/** How the program is called from here: by its path, which never fetches a package that has its name. */
export function programHere(): string {
  return existsSync(INSTALLED) ? INSTALLED : "gauntlet";
}

/** JSON strings are YAML strings, whatever was typed. */
const quoted = (text: string) => JSON.stringify(text);

function targetFile({ baseUrl, name, model, messagesModel, limits }: InitAnswers): string {
  const numbers = /^(\d+):(\d+)$/.exec(limits);
  const limit = numbers === null ? limits : `{ rpm: ${numbers[1]}, inFlight: ${numbers[2]} }`;
  const models = [
    model === "" ? "  # chat: my-model" : `  chat: ${quoted(model)}`,
    messagesModel === "" ? "  # messages: my-model" : `  messages: ${quoted(messagesModel)}`,
  ];
  return `# yaml-language-server: $schema=./node_modules/gateway-gauntlet/schemas/target.schema.json
name: ${quoted(name)}
baseUrl: ${quoted(baseUrl)}
# extraHeaders: # headers that this gateway wants with every request, such as a tenant; a value may be env:NAME or file:PATH
#   all: { x-tenant: acme }
keys: # references only: env:NAME or file:PATH
  valid: env:GW_KEY # an active key of an account with balance
  # second: env:GW_KEY_2 # another key of the same account
  # revoked: env:GW_REVOKED
  # capped: env:GW_CAPPED # at its daily cap
  # childExhausted: env:GW_CHILD # child key that has used its lifetime budget
  # empty: env:GW_EMPTY # a key of an account without balance
${model === "" && messagesModel === "" ? "# models:\n" : "models:\n"}${models.join("\n")}
  # stream: long-streaming-model
  # tools: tool-calling-model
${limits === "" ? "# limits: starter # or { rpm: 6000, inFlight: 256 }" : `limits: ${limit}`}
# limited: # accounts set aside for limit checks; small limits decide quickly
#   - { key: env:GW_LIMITED, second: env:GW_LIMITED_2, limits: { rpm: 20, inFlight: 4 } }
# skip:
#   key.revoked: "no way to revoke here" # a declared gap: the verdict says partial
budget: { requests: 5000, outputTokens: 2000000 }
`;
}

const ENVIRONMENT = `# Copy to .env, fill in, and read it into the shell: set -a; . ./.env; set +a
# Never commit .env.
GW_KEY=
# GW_KEY_2=
# GW_REVOKED=
# GW_CAPPED=
# GW_CHILD=
# GW_EMPTY=
`;

const POLICY = `# What must hold beside the checks: \`gauntlet run --policy gauntlet-policy.yaml\`.
compat: warn # what real clients need beyond the specification; error makes it a gate
# require: # must have been judged whole: what is blocked is not good enough
#   suites: [auth, chat, messages, errors]
gates: []
`;
