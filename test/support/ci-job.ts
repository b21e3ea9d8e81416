import { spawn } from "node:child_process";
import { once } from "node:events";
import { parse } from "yaml";

/** One shell step of a CI job. */
interface Step {
  readonly script: string;
  readonly environment: Readonly<Record<string, string>>;
  /** It runs after a failed step, too. */
  readonly always: boolean;
}

/** What a CI service reads from a recipe. */
export interface CiJob {
  readonly steps: readonly Step[];
  /** Paths that the service reads after the steps. */
  readonly artifacts: readonly string[];
}

/** Secrets that the service holds, by name. */
type Secrets = Readonly<Record<string, string>>;

interface GithubStep {
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly runs: { readonly steps: readonly GithubStep[] };
}

/** Actions that prepare a machine; this one is prepared. */
const PREPARING = /^actions\/(checkout|setup-node|cache\/restore)@[0-9a-f]{40}$/;
/** Actions that collect files after the steps. */
const KEEPING = /^actions\/(upload-artifact|cache\/save)@[0-9a-f]{40}$/;

interface GithubJob {
  readonly secrets: Secrets;
  /** The event that starts the workflow. */
  readonly event: "push" | "pull_request";
  /** The file `action.yml`, for a step that `uses` our own action. */
  readonly action?: string;
}

/** Reads the only job of a workflow. */
export function githubJob(workflow: string, { secrets, event, action }: GithubJob): CiJob {
  const { on, jobs } = parse(workflow);
  if (!(event in on)) throw new Error(`the workflow does not run on ${event}`);
  const [job] = Object.values(jobs as Record<string, { steps: GithubStep[] }>);
  const steps: Step[] = [];
  const artifacts: string[] = [];
  const github = { token: "github-token", "event.number": "7" };
  for (const step of job?.steps ?? []) {
    const [, condition = event] = /github\.event_name == '(\w+)'/.exec(step.if ?? "") ?? [];
    if (condition !== event) continue;
    if (step.run !== undefined) steps.push(githubStep(step, { secrets, github }));
    else if (KEEPING.test(step.uses ?? "")) artifacts.push(step.with?.["path"] ?? "");
    else if (action !== undefined && !PREPARING.test(step.uses ?? ""))
      steps.push(...actionSteps(step, action, secrets));
    else if (!PREPARING.test(step.uses ?? "")) throw new Error(`unknown action ${step.uses}`);
  }
  return { steps, artifacts };
}

function actionSteps(step: GithubStep, action: string, secrets: Secrets): Step[] {
  const { inputs, runs } = parse(action) as Action;
  const known = Object.entries(inputs).map(([name, input]) => [name, step.with?.[name] ?? input.default]);
  const outer = githubStep({ ...step, run: "" }, { secrets }).environment;
  return runs.steps
    .filter(({ uses }) => uses === undefined || !PREPARING.test(uses))
    .map((inner) => githubStep({ ...inner, env: { ...outer, ...inner.env } }, { inputs: Object.fromEntries(known) }));
}

function githubStep(step: GithubStep, values: Readonly<Record<string, Readonly<Record<string, string>>>>): Step {
  const filled = Object.entries(step.env ?? {}).map(([name, text]) => [
    name,
    text.replace(/\$\{\{ (\w+)\.([\w.]+) \}\}/g, (_, context: string, key: string) => values[context]?.[key] ?? ""),
  ]);
  return {
    script: step.run ?? "",
    environment: Object.fromEntries(filled),
    always: step.if?.startsWith("always()") ?? false,
  };
}

/** Reads the only job of a GitLab file. */
export function gitlabJob(file: string, secrets: Secrets): CiJob {
  const [job] = Object.values(
    parse(file) as Record<
      string,
      {
        script: string[];
        after_script: string[];
        cache: readonly { paths: string[] }[];
        artifacts: { paths: string[]; reports: { junit: string } };
      }
    >,
  );
  if (job === undefined) throw new Error("no job");
  const { paths, reports } = job.artifacts;
  const step = (always: boolean) => (script: string) => ({ script, environment: secrets, always });
  return {
    steps: [...job.script.map(step(false)), ...job.after_script.map(step(true))],
    artifacts: [...paths, reports.junit, ...job.cache.flatMap((cache) => cache.paths)],
  };
}

/** Reads a declarative pipeline of one stage. */
export function jenkinsJob(pipeline: string, secrets: Secrets): CiJob {
  const variables = [...pipeline.matchAll(/^ +(\w+) = (?:'(.*?)'|credentials\('.*?'\))/gm)];
  const environment = Object.fromEntries(variables.map(([, name = "", text]) => [name, text ?? secrets[name] ?? ""]));
  const post = pipeline.indexOf("  post {");
  const steps = [...pipeline.matchAll(/\bsh '(.*?)'/g)].map(({ 1: script = "", index }) => ({
    script,
    environment,
    always: index > post,
  }));
  const one = (pattern: RegExp) => pattern.exec(pipeline)?.[1] ?? "";
  const page = `${one(/reportDir: '(.*?)'/)}/${one(/reportFiles: '(.*?)'/)}`;
  return { steps, artifacts: [one(/\bjunit '(.*?)'/), page, one(/archiveArtifacts artifacts: '(.*?)'/)] };
}

/** Runs the steps as CI services do: after a failed one, only those that always run. */
export async function runJob({ steps }: CiJob, cwd: string, environment: NodeJS.ProcessEnv) {
  let code: number | null = 0;
  let output = "";
  for (const step of steps) {
    if (code !== 0 && !step.always) continue;
    const ended = await runShell(step.script, cwd, { ...environment, ...step.environment, CI: "true" });
    output += ended.output;
    code = code === 0 ? ended.code : code;
  }
  return { code, output };
}

/** Runs lines of a document in bash, which stops at the first failure. */
export async function runShell(script: string, cwd: string, env: NodeJS.ProcessEnv) {
  const options = ["--noprofile", "--norc", "-eo", "pipefail"];
  const child = spawn("bash", [...options, "-c", script], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = `$ ${script}\n`;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const [code] = await once(child, "close");
  return { code: code as number | null, output };
}
