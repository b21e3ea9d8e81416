import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import { CI_JOBS } from "../../src/commands/init/ci-jobs.ts";

/** Runs what a registry has under the name, unless it is installed here. */
const RUN_BY_NAME =
  /\b(npx|bunx|(npm|pnpm) (exec|x)|(pnpm|yarn) dlx)\s[^\n`]*?(?<![\w./-])(gateway-)?gauntlet(?![\w./])/;
/** Installs what a registry has under the name. A path such as ./gateway-gauntlet-0.1.0.tgz does not count. */
const INSTALL_BY_NAME =
  /\b(npm|pnpm|yarn|bun)\s+(i|install|add)\s[^\n`]*?(?<![\w./-])(gateway-)?gauntlet(?=["'@\s`]|$)/m;
/** A branch or a tag of an action, which may be moved to other code. */
const MOVABLE_ACTION = /uses:\s+\S+@(?!COMMIT\b|[0-9a-f]{40}\b)/;
const RULES: readonly RegExp[] = [RUN_BY_NAME, INSTALL_BY_NAME, MOVABLE_ACTION];

const breaks = (text: string) => RULES.flatMap((rule) => rule.exec(text)?.[0] ?? []);

test.each([
  "npx gauntlet doctor",
  "npx --yes gateway-gauntlet run --target gauntlet.yaml",
  "npx --no-install gauntlet doctor",
  "npx gateway-gauntlet@0.1.0 run",
  "npm exec -- gauntlet doctor",
  "pnpm dlx gateway-gauntlet",
  "npm install --save-dev gateway-gauntlet",
  "npm i -D gateway-gauntlet@latest",
  "yarn add gateway-gauntlet",
  "      - uses: OWNER/gauntlet@v0",
  "      - uses: actions/checkout@v5",
])("the rule finds: %s", (line) => {
  expect(breaks(line)).toHaveLength(1);
});

test.each([
  "npm install ./gateway-gauntlet-*.tgz",
  "npm install --save-dev ./tools/gateway-gauntlet-0.1.0.tgz",
  "./node_modules/.bin/gauntlet run --target gauntlet.yaml",
  "npx vitest run test/docs/guide.test.ts",
  "npm start -- run --target gauntlet.yaml",
  "      - uses: OWNER/REPOSITORY@COMMIT # replace OWNER/REPOSITORY and COMMIT",
  `      - uses: someone/gateways@${"0123456789".repeat(4)}`,
])("the rule lets pass: %s", (line) => {
  expect(breaks(line)).toEqual([]);
});

/** Text files of the repository, except those of this test. */
function textFiles(): string[] {
  const isText = /\.(md|ya?ml|json|[cm]?[jt]sx?|sh|html)$|^\.ci\/run$/;
  const made = ["node_modules", "dist", "coverage", "gauntlet-runs", ".git", ".stryker-tmp"];
  return readdirSync(ROOT, { withFileTypes: true })
    .filter(({ name }) => !made.includes(name))
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(entry.name) : [entry.name]))
    .filter((path) => isText.test(path) && !import.meta.filename.endsWith(path));
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length));
}

test("nothing in the repository fetches Gauntlet by a name that anybody could publish", () => {
  const files = textFiles();
  for (const path of ["README.md", "action.yml", "docs/ci.md", "src/commands/init/ci-jobs.ts", ".ci/run"])
    expect(files).toContain(path);
  const found = files.flatMap((path) => breaks(readFileSync(join(ROOT, path), "utf8")).map((hit) => `${path}: ${hit}`));
  expect(found).toEqual([]);
});

test("the pages name the files that init writes", () => {
  const pages = ["README.md", "action.yml", ...readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`)];
  const textOf = (paths: readonly string[]) =>
    paths
      .filter((path) => /\.(md|yml)$/.test(path))
      .map((path) => readFileSync(join(ROOT, path), "utf8"))
      .join("\n");
  const named = (pattern: RegExp, text: string) => new Set([...text.matchAll(pattern)].map(([, name = ""]) => name));
  const [text, examples] = [textOf(pages), textOf(["examples/README.md"])];
  const all = `${text}\n${examples}`;
  expect(named(/(?:--policy |\bpolicy: )([\w.-]+\.yaml)/g, all)).toEqual(new Set(["gauntlet-policy.yaml"]));
  expect(named(TARGET, text)).toEqual(new Set(["gauntlet.yaml"]));
  // An example also has target files that only it uses.
  const files = readdirSync(join(ROOT, "examples"), { recursive: true, encoding: "utf8" }).map((path) =>
    basename(path),
  );
  expect([...named(TARGET, examples)].filter((name) => !files.includes(name))).toEqual([]);
  expect(named(/(\.github\/workflows\/[\w.-]+)/g, all)).toEqual(new Set([CI_JOBS.github.path]));
  expect(named(/([\w.-]*gitlab-ci\.yaml)/g, all)).toEqual(new Set([CI_JOBS.gitlab.path]));
  expect(named(/([\w.-]*Jenkinsfile)/g, all)).toEqual(new Set([CI_JOBS.jenkins.path]));
});

const TARGET = /--target ([\w./-]+\.yaml)/g;
