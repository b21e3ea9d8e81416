// real-time: checks fill the limits of a minute and wait for Retry-After
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import { quickstartSteps } from "../../scripts/verify/quickstart/steps.ts";
import { type CiJob, githubJob, gitlabJob, jenkinsJob, runJob, runShell } from "../support/ci-job.ts";
import { type Running, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { type Registry, startRegistry } from "../support/registry.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** The block after a mark such as `<!-- recipe: jenkins -->`. */
function block(path: string, mark: string): string {
  const [, text] = new RegExp(`<!-- ${mark} -->\n\n\`\`\`\\w+\n([\\s\\S]*?)\`\`\``).exec(read(path)) ?? [];
  if (text === undefined) throw new Error(`${path} has no block "${mark}"`);
  return text;
}

/** The content of a checkout of the repository: nothing installed, built or run. */
const MADE = /^(node_modules|dist|coverage|gauntlet-runs|\.git|\.stryker-tmp|.*\.tgz)$/;

const base = temporaryFolder();
const clone = join(base.path, "clone");
const project = join(base.path, "project");
let registry: Registry;
let gateway: Running;
let baseUrl: string;
let secrets: Readonly<Record<string, string>>;
let tarball: string;

/** The environment of a machine without this project. Its registry has nothing under our names. */
function environment(from: Registry = registry): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|GW_|GITHUB_|(NODE_ENV|CI)$)/i.test(name));
  const path = process.env["PATH"]?.split(":").filter((folder) => !folder.endsWith("node_modules/.bin"));
  return {
    ...Object.fromEntries(kept),
    PATH: path?.join(":"),
    npm_config_registry: from.url,
    npm_config_prefer_offline: "true",
    npm_config_update_notifier: "false",
  };
}

async function type(script: string, cwd: string, more: NodeJS.ProcessEnv = {}): Promise<string> {
  const { code, output } = await runShell(script, cwd, { ...environment(), ...more });
  expect(code, output).toBe(0);
  return output;
}

beforeAll(async () => {
  registry = await startRegistry();
  gateway = startGauntlet(["gateway", "--limits", "6000:256"]);
  const ready = JSON.parse(await gateway.printed("\n"));
  baseUrl = ready.baseUrl;
  secrets = { GW_KEY: ready.keys.valid };
  cpSync(ROOT, clone, { recursive: true, filter: (path) => path === ROOT || !MADE.test(basename(path)) });
  await type(block("docs/ci.md", "install: clone"), clone);
  tarball = readdirSync(clone).find((name) => name.endsWith(".tgz")) ?? "";
  mkdirSync(join(project, "tools"), { recursive: true });
  copyFileSync(join(clone, tarball), join(project, "tools", tarball));
  await type(block("docs/ci.md", "install: project"), project);
  const target = readFileSync(join(project, "gauntlet.yaml"), "utf8");
  // A small budget: with one key the run is incomplete in any case.
  const small = target.replace(/^baseUrl:.*$/m, `baseUrl: ${baseUrl}`).replace(/\brequests: \d+/, "requests: 60");
  writeFileSync(join(project, "gauntlet.yaml"), small);
}, 600_000);

// Thousands of files are deleted: 60 s were not enough on a machine with a load of 18.
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await registry?.[Symbol.asyncDispose]();
  base[Symbol.dispose]();
}, 200_000);

afterEach(() => {
  expect(registry.denied).toEqual([]);
});

test("the registry of these tests refuses our names, and has the others", { timeout: 120_000 }, async () => {
  await using own = await startRegistry();
  for (const name of ["gauntlet", "gateway-gauntlet"]) {
    const { code } = await runShell(`npx --yes ${name} --version`, base.path, environment(own));
    expect(code).not.toBe(0);
    expect(own.denied.at(-1)).toBe(`GET /${name}`);
  }
  expect((await fetch(`${own.url}zod`)).status).toBe(200);
});

interface Recipe {
  readonly name: string;
  readonly job: () => CiJob;
  /** With a policy that cannot be met: the recipe must have read it. */
  readonly failing: boolean;
  /** What else the recipe must have left in its folder. */
  readonly also?: (folder: string) => void;
}

/** Stands in for GitHub's client: records its arguments, and finds no comment. */
const GH = '#!/bin/sh\nprintf "%s\\n" "$*" >>gh.txt\n';
const [summary, outputs] = [join(base.path, "summary.md"), join(base.path, "outputs")];
const recipes: readonly Recipe[] = [
  {
    name: "the workflow that init writes",
    job: () =>
      githubJob(readFileSync(join(project, ".github/workflows/gauntlet.yaml"), "utf8"), { secrets, event: "push" }),
    failing: false,
    also: (folder) => {
      // What the comments on later pull requests are compared with.
      expect(existsSync(join(folder, "base-run", "run.json"))).toBe(true);
    },
  },
  {
    name: "a workflow with the action",
    job: () =>
      githubJob(block("docs/ci.md", "generated: action-workflow"), {
        secrets,
        event: "pull_request",
        action: read("action.yml"),
      }),
    failing: true,
    also: (folder) => {
      // The action needs esbuild, and no other development tool.
      expect(existsSync(join(clone, "node_modules", "esbuild"))).toBe(true);
      for (const name of ["typescript", "vitest"]) expect(existsSync(join(clone, "node_modules", name))).toBe(false);
      expect(readFileSync(join(folder, "gh.txt"), "utf8").trim().split("\n").at(-1)).toBe(
        "api --silent repos/o/r/issues/7/comments -F body=@gauntlet-run/comment.md",
      );
      expect(readFileSync(summary, "utf8")).toBe(readFileSync(join(folder, "gauntlet-run", "summary.md"), "utf8"));
      expect(readFileSync(outputs, "utf8")).toBe(
        "verdict=fail\nreport=gauntlet-run/report.html\ncomment=gauntlet-run/comment.md\n",
      );
    },
  },
  {
    name: "the GitLab job",
    job: () => gitlabJob(block("docs/ci.md", "generated: gitlab-job"), secrets),
    failing: true,
  },
  {
    name: "the Jenkins pipeline",
    job: () => jenkinsJob(block("docs/ci.md", "generated: jenkins-pipeline"), secrets),
    failing: false,
    also: (folder) => {
      // npm has stayed within the workspace.
      expect(existsSync(join(folder, ".npm-cache", "_cacache"))).toBe(true);
    },
  },
];

describe.each(recipes)("$name", ({ name, job, failing, also }) => {
  test("installs without our names, ends with the run's exit code, and leaves its artifacts", {
    timeout: 300_000,
  }, async () => {
    using folder = temporaryFolder();
    cpSync(project, folder.path, { recursive: true, filter: (path) => basename(path) !== "node_modules" });
    if (failing) writeFileSync(join(folder.path, "gauntlet-policy.yaml"), 'gates: ["checks{status=pass} == 0"]\n');
    const run = join(folder.path, "gauntlet-run");
    // Jenkins keeps the folder for the next build. The other services start with the content of git.
    if (name.includes("Jenkins")) {
      mkdirSync(run);
      writeFileSync(join(run, "run.json"), "{}");
    }
    for (const file of [summary, outputs]) writeFileSync(file, "");
    const bin = join(base.path, "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "gh"), GH, { mode: 0o755 });
    const made = job();
    const { code, output } = await runJob(made, folder.path, {
      ...environment(),
      PATH: `${bin}:${environment()["PATH"]}`,
      NODE_ENV: "production",
      GITHUB_ACTION_PATH: clone,
      GITHUB_REPOSITORY: "o/r",
      GITHUB_ACTIONS: "true",
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_OUTPUT: outputs,
    });
    // With one key the run is incomplete.
    expect(code, output).toBe(failing ? 1 : 4);
    expect(JSON.parse(readFileSync(join(run, "run.json"), "utf8")).verdict.result).toBe(
      failing ? "fail" : "inconclusive",
    );
    expect(made.artifacts.length).toBeGreaterThan(0);
    const reports = ["report.html", "junit.xml", "ctrf.json", "summary.md"].map((file) => `gauntlet-run/${file}`);
    for (const path of [...made.artifacts, ...reports]) expect(existsSync(join(folder.path, path)), path).toBe(true);
    also?.(folder.path);
  });
});

test("the commands for your own suite work in the project", { timeout: 120_000 }, async () => {
  copyFileSync(join(ROOT, "docs/examples/own-suite.ts"), join(project, "own-suite.ts"));
  const output = await type(block("docs/own-suites.md", "recipe: own-suite"), project, secrets);
  expect(output).toMatch(/PASS[\s\S]*2 pass, 1 observed[\s\S]*A temperature is accepted/);
});

test("the README's commands lead from an empty folder to a gateway that is ready", { timeout: 300_000 }, async () => {
  using folder = temporaryFolder();
  copyFileSync(join(clone, tarball), join(folder.path, tarball));
  const program = "./node_modules/.bin/gauntlet";
  const starts = ["npm init", "npm install ./", `${program} init`, `${program} doctor`];
  const steps = quickstartSteps().filter((step) => starts.some((start) => step.startsWith(start)));
  expect(steps).toHaveLength(starts.length);
  const script = steps.join("\n").replace(/--base-url \S+/, `--base-url ${baseUrl}`);
  expect(await type(script, folder.path, secrets)).toContain("Ready to run");
});
