import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { instancesOf } from "../../../src/checks/index.ts";
import { MUTATIONS, VARIANTS } from "../../../src/reference-gateway/index.ts";
import { EXCLUSIONS, linkedSource, REQUIREMENTS } from "../../../src/requirements/index.ts";
import { CHECKS } from "../../../suites/index.ts";
import { isCauseRight, isUnderstated, type Kill } from "./evaluate.ts";

const DOCS = join(import.meta.dirname, "../../../docs");
export const MATRIX_FILE = join(DOCS, "internal", "measured", "kill-matrix.json");

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
  writeFileSync(join(DOCS, "internal", "kill-matrix.md"), killPage(matrix));
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

export function killPage({ kills, survivors, variants, variantRuns }: Matrix): string {
  const failed = kills.filter(({ foundBy }) => foundBy === "failure").length;
  const right = kills.filter(isCauseRight).length;
  const byCheck = new Map<string, string[]>();
  for (const { mutation, killers } of kills)
    for (const check of Object.keys(killers)) byCheck.set(check, [...(byCheck.get(check) ?? []), mutation]);
  const summaryOf = (name: string) => MUTATIONS.find((mutation) => mutation.name === name)?.summary ?? "";
  const unkilled = CHECKS.filter(({ id }) => !byCheck.has(id)).map(({ id }) => id);
  return `# Kill matrix

Measured by \`npm run verify mutations -- --write\`, in one run with \`--all\` or in several with \`--only\`; the data is in [kill-matrix.json](measured/kill-matrix.json).
Conformance checks detect ${kills.length} of ${kills.length + survivors.length} mutations of the reference gateway in a requirement that the mutation breaks:
${failed} by a failure, ${kills.length - failed} only by a warning; ${kills.filter(isUnderstated).length} of the latter break a MUST. What else a mutation may
break follows from its declaration and from \`scripts/verify/judge/may-break.ts\`; anything beyond that fails the verification. ${verdictOnVariants(variants, variantRuns)}

A verdict names causes. For ${right} of the ${kills.length} mutations, the first cause named was in a requirement that the mutation breaks
(${((right / kills.length) * 100).toFixed(1)} %).

## Mutations and the checks that detect them

Profiles are those to which a gateway with the mutation does not conform; ? was not measured.

| Mutation | What is wrong | Requirements | As | Profiles | Detected by |
|---|---|---|---|---|---|
${kills
  .map(
    ({ mutation, requirements, killers, foundBy, failedProfiles }) =>
      `| \`${mutation}\` | ${summaryOf(mutation)} | ${requirements.join(", ")} | ${foundBy} | ${profilesText(failedProfiles)} | ${Object.keys(
        killers,
      )
        .map((id) => `[${id}](../checks.md#${anchor(id)})`)
        .join(", ")} |`,
  )
  .join("\n")}

## Mutations that the conformance checks did not detect

They need more traffic than a conformance run sends (\`gauntlet load\` detects them), or something that happens to the gateway during a
load (\`disturbed.*\`: \`npm run verify disturbance\`), or are not detected in every run: a busy machine hides what shows only in timing.

${survivors.map((mutation) => `- \`${mutation}\`: ${summaryOf(mutation)}`).join("\n")}

## Checks that no mutation fails

Checks that only observe, and checks of what other checks already decide.

${unkilled.map((id) => `- \`${id}\``).join("\n")}
`;
}

function profilesText(failed: Kill["failedProfiles"]): string {
  return failed === undefined ? "?" : failed.join(", ") || "none";
}

/** @param variants those that failed no check in any of their runs. */
function verdictOnVariants(variants: readonly string[], runs: number): string {
  if (runs === 0) return "The valid variants were not judged in this run.";
  const times = runs === 1 ? "one run" : `${runs} runs`;
  const others = VARIANTS.length - variants.length;
  return `${variants.length} of ${VARIANTS.length} valid variants failed no check in ${times} each${others === 0 ? "" : `; ${others} are not known to`}.`;
}

export function coveragePage({ kills }: Matrix): string {
  const checksOf = new Map<string, string[]>();
  for (const check of CHECKS)
    for (const requirement of check.covers) checksOf.set(requirement, [...(checksOf.get(requirement) ?? []), check.id]);
  const excluded = new Map(EXCLUSIONS.map((exclusion) => [exclusion.requirement as string, exclusion.reason]));
  const lines = REQUIREMENTS.map((requirement) => {
    const { id, level, text } = requirement;
    const source = linkedSource(requirement, (place) => `[${place}](specification.md#${place})`);
    const checks = checksOf.get(id) ?? [];
    const mutations = kills.filter(({ killers }) =>
      Object.values(killers).some((requirements) => requirements.includes(id)),
    );
    const by =
      checks.length > 0 ? checks.map((check) => `\`${check}\``).join(", ") : `*${excluded.get(id) ?? "nothing"}*`;
    const shown = mutations.slice(0, 6).map(({ mutation }) => `\`${mutation}\``);
    const more = mutations.length > 6 ? ` and ${mutations.length - 6} more` : "";
    return `| ${id} | ${level} | ${source} | ${text.replaceAll("|", "\\|")} | ${by} | ${shown.join(", ")}${more} |`;
  });
  const instances = CHECKS.flatMap(instancesOf).length;
  return `# Coverage of the requirements

${REQUIREMENTS.length} requirements, ${CHECKS.length} checks, ${instances} check instances. The mutations are those of the [kill matrix](internal/kill-matrix.md), which
\`npm run verify mutations -- --all --write\` measures. A requirement without a check has the reason in italics. [Every check
explained](checks.md) explains the levels. A source with a link is a place in the [specification](specification.md).

| Requirement | Level | Source | Statement | Tested by | Mutations detected |
|---|---|---|---|---|---|
${lines.join("\n")}
`;
}

function anchor(id: string): string {
  return id.replaceAll(".", "");
}
