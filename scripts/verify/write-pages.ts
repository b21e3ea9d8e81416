import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { instancesOf } from "../../src/checks/index.ts";
import { MUTATIONS, VARIANTS } from "../../src/reference-gateway/index.ts";
import { EXCLUSIONS, REQUIREMENTS } from "../../src/requirements/index.ts";
import { CHECKS } from "../../suites/index.ts";
import { isCauseRight, isUnderstated, type Kill } from "./evaluate.ts";

const DOCS = join(import.meta.dirname, "../../docs");
export const MATRIX_FILE = join(DOCS, "kill-matrix.json");

/** The kill matrix as data. */
export interface Matrix {
  readonly kills: readonly Kill[];
  /** Mutations that no conformance check detects; each needs a load run. */
  readonly survivors: readonly string[];
  /** Variants that failed no check in any of their runs. */
  readonly variants: readonly string[];
  /** How often each variant was judged; 0: they were skipped. */
  readonly variantRuns: number;
}

export function readMatrix(): Matrix {
  return JSON.parse(readFileSync(MATRIX_FILE, "utf8"));
}

/** Writes the matrix and the two pages generated from it. */
export function writePages({
  kills,
  variants,
  variantRuns,
}: {
  kills: readonly Kill[];
  variants: readonly string[];
  variantRuns: number;
}): void {
  const sorted = [...kills].sort((a, b) => a.mutation.localeCompare(b.mutation));
  const isKilled = ({ killers }: Kill) => Object.keys(killers).length > 0;
  const matrix: Matrix = {
    kills: sorted.filter(isKilled).map(withoutAxes),
    survivors: sorted.filter((kill) => !isKilled(kill)).map(({ mutation }) => mutation),
    variants: [...variants].sort(),
    variantRuns,
  };
  writeFileSync(MATRIX_FILE, `${JSON.stringify(matrix, null, 1)}\n`);
  writeFileSync(join(DOCS, "kill-matrix.md"), killPage(matrix));
  writeFileSync(join(DOCS, "coverage.md"), coveragePage(matrix));
}

/** Instances of one check kill alike: the page is about checks. */
function withoutAxes(kill: Kill): Kill {
  const killers: Record<string, string[]> = {};
  for (const [instance, requirements] of Object.entries(kill.killers)) {
    const check = instance.replace(/\[.*$/, "");
    killers[check] = [...new Set([...(killers[check] ?? []), ...requirements])].sort();
  }
  return { ...kill, killers };
}

function killPage({ kills, survivors, variants, variantRuns }: Matrix): string {
  const failed = kills.filter(({ foundBy }) => foundBy === "failure").length;
  const right = kills.filter(isCauseRight).length;
  const byCheck = new Map<string, string[]>();
  for (const { mutation, killers } of kills)
    for (const check of Object.keys(killers)) byCheck.set(check, [...(byCheck.get(check) ?? []), mutation]);
  const summaryOf = (name: string) => MUTATIONS.find((mutation) => mutation.name === name)?.summary ?? "";
  const unkilled = CHECKS.filter(({ id }) => !byCheck.has(id)).map(({ id }) => id);
  return `# Kill matrix

Written by \`npm run verify -- --write\`, in one run with \`--all\` or in several with \`--only\`; the data is in [kill-matrix.json](kill-matrix.json). ${kills.length} of
${kills.length + survivors.length} defects of the reference gateway are seen by a conformance check in a requirement that they belong to:
${failed} by a failure, ${kills.length - failed} by a warning alone; ${kills.filter(isUnderstated).length} of the latter break a MUST. What else a defect may break stands in
\`scripts/verify/may-break.ts\`; anything beyond that fails the verification. ${verdictOnVariants(variants, variantRuns)}

A verdict names causes. Of ${kills.length} defects, the first cause named was in a requirement that the defect belongs to for ${right}
(${((right / kills.length) * 100).toFixed(1)} %).

## Defects and the checks that see them

| Defect | What is wrong | Requirements | As | Seen by |
|---|---|---|---|---|
${kills
  .map(
    ({ mutation, requirements, killers, foundBy }) =>
      `| \`${mutation}\` | ${summaryOf(mutation)} | ${requirements.join(", ")} | ${foundBy} | ${Object.keys(killers)
        .map((id) => `[${id}](checks.md#${anchor(id)})`)
        .join(", ")} |`,
  )
  .join("\n")}

## Defects that this run did not show

They show under more traffic than a conformance run sends (\`gauntlet load\` sees them), or not in every run: what shows only in
timing hides behind a busy machine.

${survivors.map((mutation) => `- \`${mutation}\`: ${summaryOf(mutation)}`).join("\n")}

## Checks that no defect fails

Checks that only observe, and checks that watch what other checks decide.

${unkilled.map((id) => `- \`${id}\``).join("\n")}
`;
}

/** @param variants those that failed no check in any of their runs. */
function verdictOnVariants(variants: readonly string[], runs: number): string {
  if (runs === 0) return "The valid variants were not judged in this run.";
  const times = runs === 1 ? "one run" : `${runs} runs`;
  const others = VARIANTS.length - variants.length;
  return `${variants.length} of ${VARIANTS.length} valid variants failed no check in ${times} each${others === 0 ? "" : `; ${others} are not known to`}.`;
}

function coveragePage({ kills }: Matrix): string {
  const checksOf = new Map<string, string[]>();
  for (const check of CHECKS)
    for (const requirement of check.covers) checksOf.set(requirement, [...(checksOf.get(requirement) ?? []), check.id]);
  const excluded = new Map(EXCLUSIONS.map((exclusion) => [exclusion.requirement as string, exclusion.reason]));
  const lines = REQUIREMENTS.map(({ id, level, text }) => {
    const checks = checksOf.get(id) ?? [];
    const mutations = kills.filter(({ killers }) =>
      Object.values(killers).some((requirements) => requirements.includes(id)),
    );
    const by =
      checks.length > 0 ? checks.map((check) => `\`${check}\``).join(", ") : `*${excluded.get(id) ?? "nothing"}*`;
    const shown = mutations.slice(0, 6).map(({ mutation }) => `\`${mutation}\``);
    const more = mutations.length > 6 ? ` and ${mutations.length - 6} more` : "";
    return `| ${id} | ${level} | ${text.replaceAll("|", "\\|")} | ${by} | ${shown.join(", ")}${more} |`;
  });
  const instances = CHECKS.flatMap(instancesOf).length;
  return `# Coverage of the requirements

Written by \`npm run verify -- --all --write\`. ${REQUIREMENTS.length} requirements, ${CHECKS.length} checks in ${instances} instances, ${kills.length} defects.
An excluded requirement has its reason in italics. What a level is worth stands in [checks.md](checks.md).

| Requirement | Level | Statement | Judged by | Defects seen in it |
|---|---|---|---|---|
${lines.join("\n")}
`;
}

function anchor(id: string): string {
  return id.replaceAll(".", "");
}
