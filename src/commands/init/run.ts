import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigError, messageOf, NAME, UsageError } from "../../core/index.ts";
import { programHere } from "../../run/control/index.ts";
import { isLoopback, loadTarget, parseTarget, type Target, withPlaceholders } from "../../target/index.ts";
import { hasNoGaps } from "./accept-gaps.ts";
import { CI_JOBS, type CiJob, jobForBranch } from "./ci-jobs.ts";
import { type FromGateway, KEY_VARIABLE, proposeFromGateway } from "./propose-from-gateway.ts";

/** The input of `gauntlet init`. An empty string leaves its line commented out. */
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
  /** Overwrite existing files. */
  readonly force: boolean;
}

/** Default base URL. */
export const DEFAULT_BASE_URL = "http://127.0.0.1:8080/v1";

/** Default name in reports. */
export function defaultName(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : "gateway";
}

/** What `init` wrote, and what it found out about the gateway. */
export interface Initialised extends Omit<FromGateway, "text"> {
  readonly paths: readonly string[];
  /** Lines that were added to `.gitignore`; empty if it already had them. */
  readonly ignored: readonly string[];
}

/** @throws UsageError when a file to be written already exists: checked before the first prompt, so that no input is lost. */
export function assertNothingThere(ci: InitOptions["ci"], force: boolean): void {
  const jobIsNew = ci !== "none" && !existsSync(jobHere(ci).path);
  const hint = `Add --force to overwrite${jobIsNew ? ", or --ci-only to add only the CI job" : ""}, or go to another folder.`;
  assertNew(filesOf("", ci), force, hint);
}

function assertNew(files: readonly { readonly path: string }[], force: boolean, hint: string): void {
  const there = files.map(({ path }) => path).filter((path) => existsSync(path));
  if (there.length === 0 || force) return;
  throw new UsageError(`${there.join(", ")} already exist${there.length === 1 ? "s" : ""}`, { hint });
}

/** What is said about the target file next to a CI job. */
interface JobTarget extends Pick<Target, "baseUrl"> {
  /** Whether it has, or declares as a gap, everything that its checks need. */
  readonly isComplete: boolean;
}

/**
 * Writes only the CI job, for a folder that `init` set up before.
 *
 * @throws UsageError when there is no target file, or the job already exists. Nothing is written then.
 * @throws ConfigError when the target file is invalid.
 */
export function initJob(ci: keyof typeof CI_JOBS, force: boolean): Initialised & JobTarget {
  if (!existsSync("gauntlet.yaml"))
    throw new UsageError("there is no gauntlet.yaml in this folder, and the CI job needs one", {
      hint: "Omit --ci-only to write both.",
    });
  const job = jobHere(ci);
  assertNew([job], force, "Add --force to overwrite.");
  const target = loadTarget("gauntlet.yaml", withPlaceholders(process.env));
  write([job]);
  return {
    ...{ paths: [job.path], ignored: updateGitignore(), gatewayNote: undefined, wasRead: false },
    ...{ baseUrl: target.baseUrl, isComplete: hasNoGaps(target) },
  };
}

function write(files: readonly { readonly path: string; readonly text: string }[]): void {
  for (const { path, text } of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** What our own reader says about one input, as soon as it is entered; `undefined` when it is valid. */
export function problemOf(given: Partial<InitAnswers>): string | undefined {
  const others: InitAnswers = { baseUrl: DEFAULT_BASE_URL, name: "gateway", model: "", messagesModel: "", limits: "" };
  if (given.limits !== undefined && !/^(starter|growth|scale|[1-9]\d*:[1-9]\d*)?$/.test(given.limits))
    return "starter, growth, scale, or numbers above 0 such as 300:64";
  try {
    parseTarget(targetFile({ ...others, ...given }), "gauntlet.yaml", { [KEY_VARIABLE]: "to-be-set" });
    return undefined;
  } catch (error) {
    return error instanceof ConfigError ? error.problems.map(({ message }) => message).join(" ") : messageOf(error);
  }
}

/**
 * Writes a commented `gauntlet.yaml`, `.env.example`, `gauntlet-policy.yaml` and a CI job, and adds `.env` and the run folders to
 * `.gitignore`. It never prompts for a key or writes
 * one: keys belong in the environment.
 *
 * If the key is in the environment, the gateway is contacted first: the file then has its denial messages, and the models and
 * dialects that respond. The user's own input has priority.
 *
 * @throws UsageError when the input is not a valid target file or a file already exists. Nothing is written then.
 */
export async function init({ answers, ci, force }: InitOptions): Promise<Initialised> {
  const wrong = (Object.keys(answers) as (keyof InitAnswers)[]).flatMap((name) => {
    const problem = problemOf({ [name]: answers[name] });
    // A URL may contain a key, so the message does not repeat it.
    const value = name === "baseUrl" ? "" : ` ${JSON.stringify(answers[name])}`;
    return problem === undefined ? [] : [`${name}${value}: ${problem}`];
  });
  if (wrong.length > 0) throw new UsageError(wrong.join("; "));
  assertNothingThere(ci, force);
  const written = targetFile(answers);
  const { text, ...fromGateway } = await proposeFromGateway(written);
  const files = filesOf(text, ci);
  write(files);
  return { paths: files.map(({ path }) => path), ignored: updateGitignore(), ...fromGateway };
}

/** Keys, installed packages, the default folder of runs, the run folder of the CI jobs, and the history that they keep with its side files. */
const IGNORED = [".env", "node_modules/", "gauntlet-runs/", "gauntlet-run/", "gauntlet-history.db*"];

/** Adds what must not be committed to `.gitignore`. @returns the lines that it did not have. */
function updateGitignore(): string[] {
  const before = existsSync(".gitignore") ? readFileSync(".gitignore", "utf8") : "";
  const bare = (line: string) => line.trim().replace(/^\/|\/$/g, "");
  const known = new Set(before.split("\n").map(bare));
  const missing = IGNORED.filter((line) => !known.has(bare(line)));
  const separator = before === "" || before.endsWith("\n") ? "" : "\n";
  if (missing.length > 0) appendFileSync(".gitignore", `${separator}${missing.join("\n")}\n`);
  return missing;
}

function filesOf(target: string, ci: InitOptions["ci"]): { readonly path: string; readonly text: string }[] {
  return [
    { path: "gauntlet.yaml", text: target },
    { path: ".env.example", text: ENVIRONMENT },
    { path: "gauntlet-policy.yaml", text: POLICY },
    ...(ci === "none" ? [] : [jobHere(ci)]),
  ];
}

/** The CI job for the repository of this folder. */
function jobHere(ci: keyof typeof CI_JOBS): CiJob {
  const branch = defaultBranch();
  return branch === undefined ? CI_JOBS[ci] : jobForBranch(CI_JOBS[ci], branch);
}

/**
 * The default branch of the repository in the working directory: the default branch of `origin`; otherwise the only branch, `main` or
 * `master`, or the current branch, in this order; `undefined` if git knows none.
 */
function defaultBranch(): string | undefined {
  const ofOrigin = git("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")?.replace(/^origin\//, "");
  if (ofOrigin !== undefined) return ofOrigin;
  const branches = git("branch", "--format=%(refname:short)")?.split("\n").filter(Boolean) ?? [];
  const current = git("symbolic-ref", "--quiet", "--short", "HEAD");
  if (branches.length <= 1) return current;
  return ["main", "master"].find((name) => branches.includes(name)) ?? current;
}

/** What git prints; `undefined` if it fails or prints nothing. */
function git(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const text = status === 0 ? stdout.trim() : "";
  return text === "" ? undefined : text;
}

interface StepsOptions {
  readonly ci: InitOptions["ci"];
  readonly baseUrl: string | undefined;
  readonly isComplete: boolean;
}

/**
 * What is still to be done before CI can run the job that was written, a sentence each.
 *
 * @param baseUrl absent if it is a placeholder.
 * @param isComplete whether the target file has, or declares as a gap, everything that its checks need.
 * @param written paths of the files that `init` wrote.
 */
export function stepsForCi({ ci, baseUrl, isComplete }: StepsOptions, written: readonly string[]): string[] {
  if (ci === "none") return [];
  const tarball = installedTarball();
  const install =
    "Build Gauntlet's tarball (npm ci && npm pack in a clone of it), copy it to tools/, and run: npm install --save-dev ./tools/gateway-gauntlet-*.tgz";
  const files = [...written, "package.json", "package-lock.json"].join(", ");
  return [
    ...(tarball === undefined ? [install] : []),
    ...jobHere(ci).setUp,
    ...(baseUrl === undefined
      ? [
          "Set baseUrl in gauntlet.yaml to the address of your gateway. If the job itself must start the gateway, add that step.",
        ]
      : []),
    ...(baseUrl !== undefined && isLoopback(baseUrl)
      ? ["Start the gateway in the job: baseUrl points to the machine that runs the job."]
      : []),
    ...(isComplete
      ? []
      : [
          `With one key only, the job ends with exit code 4: the checks that need other keys or models are blocked. Add them to gauntlet.yaml, or run: ${programHere()} init --accept-gaps`,
        ]),
    `Commit ${files} and ${tarball ?? "the tarball"}.`,
  ];
}

/** The tarball from which the project in this folder installs Gauntlet. */
function installedTarball(): string | undefined {
  if (!existsSync("package.json")) return undefined;
  try {
    const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
    const source: unknown = { ...dependencies, ...devDependencies }[NAME];
    return typeof source === "string" ? /^file:(?:\.\/)?(.*\.tgz)$/.exec(source)?.[1] : undefined;
  } catch {
    // npm reports an invalid package.json better than we could.
    return undefined;
  }
}

/** JSON strings are valid YAML strings, whatever was typed. */
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

const POLICY = `# yaml-language-server: $schema=./node_modules/gateway-gauntlet/schemas/policy.schema.json
# Conditions that a run must meet in addition to the checks: \`gauntlet run --policy gauntlet-policy.yaml\`.
compat: warn # what real clients need beyond the specification; error makes it a gate
# require: # every check of these suites must have been judged; blocked checks are not accepted
#   suites: [auth, chat, messages, errors]
gates: []
`;
