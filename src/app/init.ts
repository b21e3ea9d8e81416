import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { EXIT, UsageError } from "../core/index.ts";
import { parseTarget } from "../target/index.ts";

export interface InitOptions {
  /** Take defaults for what is not given, and ask nothing. */
  readonly yes: boolean;
  readonly "base-url"?: string | undefined;
  readonly name?: string | undefined;
  readonly model?: string | undefined;
  readonly "messages-model"?: string | undefined;
  readonly limits?: string | undefined;
  /** CI job to write; `none` writes none. */
  readonly ci: "github" | "gitlab" | "none";
  readonly force: boolean;
}

interface Answers {
  readonly baseUrl: string;
  readonly name: string;
  readonly model: string;
  readonly messagesModel: string;
  readonly limits: string;
}

/**
 * Writes a commented `gauntlet.yaml`, `.env.example`, `gauntlet-policy.yaml` and a CI job. Asks at a terminal; elsewhere, and
 * with `--yes`, options and defaults answer. Never asks for a key: keys belong into the environment.
 */
export async function init(options: InitOptions): Promise<number> {
  const answers = await answersFor(options);
  const files = filesOf(answers, options.ci);
  // Our own reader judges what was answered, before anything is written.
  const target = files.find(({ path }) => path === "gauntlet.yaml")?.text ?? "";
  parseTarget(target, "gauntlet.yaml", { GW_KEY: "to-be-set" });
  const there = files.filter(({ path }) => existsSync(path)).map(({ path }) => path);
  if (there.length > 0 && !options.force) {
    throw new UsageError(`${there.join(", ")} already exist${there.length === 1 ? "s" : ""}`, {
      hint: "Add --force to overwrite, or go to another folder.",
    });
  }
  for (const { path, text } of files) {
    writeFileSync(path, text);
    process.stdout.write(`wrote ${path}\n`);
  }
  process.stdout.write(
    "\nNext:\n  export GW_KEY=…            # never in a file that is committed\n  npx gauntlet doctor        # what can be judged, and what would unlock more\n  npx gauntlet conform --target gauntlet.yaml\n",
  );
  return EXIT.pass;
}

async function answersFor(options: InitOptions): Promise<Answers> {
  const asking = !options.yes && process.stdin.isTTY === true && process.stdout.isTTY === true;
  const ask = asking ? createInterface({ input: process.stdin, output: process.stdout }) : undefined;
  const answer = async (question: string, given: string | undefined, otherwise: string): Promise<string> => {
    if (given !== undefined || ask === undefined) return given ?? otherwise;
    const typed = (await ask.question(`${question}${otherwise === "" ? "" : ` [${otherwise}]`}: `)).trim();
    return typed === "" ? otherwise : typed;
  };
  try {
    const baseUrl = await answer("Base address, with /v1", options["base-url"], "http://127.0.0.1:8080/v1");
    const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : "gateway";
    const model = await answer("A model for chat completions; empty: the first listed", options.model, "");
    return {
      baseUrl,
      name: await answer("Name in reports", options.name, host),
      model,
      messagesModel: await answer("A model for messages; empty: the same", options["messages-model"], ""),
      limits: await answer("Limits: starter, growth, scale or RPM:INFLIGHT; empty: not known", options.limits, ""),
    };
  } finally {
    ask?.close();
  }
}

function filesOf(answers: Answers, ci: InitOptions["ci"]): { readonly path: string; readonly text: string }[] {
  return [
    { path: "gauntlet.yaml", text: targetFile(answers) },
    { path: ".env.example", text: ENVIRONMENT },
    { path: "gauntlet-policy.yaml", text: POLICY },
    ...(ci === "github" ? [{ path: "gauntlet.github-workflow.yaml", text: GITHUB }] : []),
    ...(ci === "gitlab" ? [{ path: "gauntlet.gitlab-ci.yaml", text: GITLAB }] : []),
  ];
}

/** JSON strings are YAML strings, whatever was typed. */
const quoted = (text: string) => JSON.stringify(text);

function targetFile({ baseUrl, name, model, messagesModel, limits }: Answers): string {
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

const GITHUB = `# Move to .github/workflows/gauntlet.yaml
name: gauntlet
on: [workflow_dispatch, pull_request]
jobs:
  conform:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with: { node-version: 22 }
      - run: npx gateway-gauntlet conform --target gauntlet.yaml --out gauntlet-run
        env:
          GW_KEY: \${{ secrets.GW_KEY }}
      - uses: actions/upload-artifact@v4
        if: always()
        with: { name: gauntlet-run, path: gauntlet-run }
`;

const GITLAB = `# Include from .gitlab-ci.yml; GW_KEY is a masked variable of the project.
gauntlet:
  image: node:22
  script:
    - npx gateway-gauntlet conform --target gauntlet.yaml --out gauntlet-run
  artifacts:
    when: always
    paths: [gauntlet-run]
    reports: { junit: gauntlet-run/junit.xml }
`;
