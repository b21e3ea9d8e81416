import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { LOAD_TERMS, RESULT_TERMS, type Term } from "../../reports/text/index.ts";
import { waiversJsonSchema } from "../../src/checks/index.ts";
import { changesJsonSchema, claimJsonSchema } from "../../src/claims/index.ts";
import { actionWorkflow, CI_JOBS } from "../../src/commands/init/ci-jobs.ts";
import { workloadJsonSchema } from "../../src/load/index.ts";
import { policyJsonSchema } from "../../src/policy/index.ts";
import { runRecordJsonSchema } from "../../src/record/index.ts";
import { REQUIREMENTS, specificationPlaces } from "../../src/requirements/index.ts";
import { targetJsonSchema } from "../../src/target/index.ts";
import { scenarioJsonSchema } from "../../src/upstream/index.ts";
import { lintRules, moduleDiagram } from "../modules.ts";
import { coveragePage, killPage, readMatrix } from "../verify/judge/write-pages.ts";
import { checksPage } from "./checks-page.ts";
import { profilesReference } from "./profiles-page.ts";
import { reliabilityFigures } from "./reliability.ts";
import { replyEvidence } from "./reply-evidence.ts";
import { packageManifest, REPOSITORY, schemaId } from "./repository.ts";
import { targetReference } from "./target-reference.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface GeneratedFile {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** Every file that `npm run generate` writes, with its expected content. */
export function generatedFiles(): GeneratedFile[] {
  return [
    { path: "package.json", text: packageManifest() },
    schemaFile("target", targetJsonSchema()),
    schemaFile("workload", workloadJsonSchema()),
    schemaFile("run", runRecordJsonSchema()),
    schemaFile("waivers", waiversJsonSchema()),
    schemaFile("policy", policyJsonSchema()),
    schemaFile("claim", claimJsonSchema()),
    schemaFile("changes", changesJsonSchema()),
    schemaFile("upstream", scenarioJsonSchema()),
    { path: "scripts/generated/biome.modules.json", text: lintRules() },
    ...K6_COPIES.map((name) => ({ path: `suites/k6/${basename(name)}`, text: copyForK6(name) })),
    withParts("docs/internal/architecture.md", { modules: moduleDiagram }),
    { path: "docs/checks.md", text: checksPage() },
    { path: "docs/coverage.md", text: coveragePage(readMatrix()) },
    { path: "docs/internal/kill-matrix.md", text: killPage(readMatrix()) },
    withParts("docs/specification.md", { requirements: requirementsByPlace }),
    withParts("docs/ci.md", {
      "github-workflow": () => fenced("yaml", CI_JOBS.github.text),
      "action-workflow": () => fenced("yaml", actionWorkflow(REPOSITORY)),
      "gitlab-job": () => fenced("yaml", CI_JOBS.gitlab.text),
      "jenkins-pipeline": () => fenced("groovy", CI_JOBS.jenkins.text),
    }),
    withParts("docs/target-file.md", { fields: targetReference }),
    withParts("docs/concepts.md", {
      results: () => termTable("result of a check", Object.entries(RESULT_TERMS)),
      "load-terms": () => termTable("word", LOAD_TERMS),
    }),
    withParts("docs/profiles.md", { profiles: profilesReference }),
    withParts("docs/own-suites.md"),
    withParts("docs/evidence.md", { replies: replyEvidence }),
    withParts("docs/internal/reliability.md", { figures: reliabilityFigures }),
  ];
}

function schemaFile(name: string, { $schema, ...schema }: { readonly $schema?: string }): GeneratedFile {
  const path = `schemas/${name}.schema.json`;
  return { path, text: json({ $schema, $id: schemaId(path), ...schema }) };
}

/** Files of `src/dialects` that the k6 scripts also use. They must import nothing but each other. */
const K6_COPIES = [
  "denial-reading.ts",
  "reply/reply-defect.ts",
  "reply/reply-items.ts",
  "reply/reply-output.ts",
  "retry-after.ts",
];

function copyForK6(name: string): string {
  const source = readFileSync(`${ROOT}src/dialects/${name}`, "utf8");
  return `// Generated from src/dialects/${name} by \`npm run generate\`: change it there.\n${source}`;
}

const termTable = (head: string, terms: readonly Term[]): string =>
  [`| ${head} | meaning |`, "|---|---|", ...terms.map(([word, meaning]) => `| ${word} | ${meaning} |`)].join("\n");

const fenced = (language: string, text: string) => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/**
 * A hand-written page with generated parts, each between `<!-- generated: NAME -->` and `<!-- end -->`. A line `<!-- example:
 * FILE -->` is followed by that file of `docs/examples` as a fenced block.
 */
function withParts(path: string, parts: Readonly<Record<string, () => string>> = {}): GeneratedFile {
  const written = readFileSync(ROOT + path, "utf8");
  const generated = written.replace(
    /(<!-- generated: ([\w-]+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, open, name, close) => {
      const part = parts[name];
      if (part === undefined) throw new Error(`${path} asks for an unknown part "${name}"`);
      return `${open}\n${part()}\n\n${close}`;
    },
  );
  const text = generated.replace(
    /(<!-- example: ([\w./-]+) -->\n)(?:\n```\w+\n[\s\S]*?\n```\n)?/g,
    (_, open, file) =>
      `${open}\n\`\`\`${file.split(".").at(-1).replace("mjs", "js")}\n${readFileSync(`${ROOT}docs/examples/${file}`, "utf8").trimEnd()}\n\`\`\`\n`,
  );
  return { path, text };
}

/** For each place of the specification, the requirements that cite it. */
function requirementsByPlace(): string {
  const citing = new Map<string, string[]>();
  for (const requirement of REQUIREMENTS)
    for (const place of specificationPlaces(requirement))
      citing.set(place, [...(citing.get(place) ?? []), requirement.id]);
  const places = [...citing.keys()].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return [
    "| place | requirements |",
    "|---|---|",
    ...places.map((place) => `| [${place}](#${place}) | ${citing.get(place)?.join(", ")} |`),
  ].join("\n");
}
