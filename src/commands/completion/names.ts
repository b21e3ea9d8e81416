import { readdirSync } from "node:fs";
import { CHECKS } from "../../../suites/index.ts";
import { customRequirementsOf, suiteOf } from "../../checks/index.ts";
import { SCENARIOS } from "../../client-conformance/index.ts";
import { REQUIREMENTS } from "../../requirements/index.ts";
import { SHIPPED_WORKLOADS } from "../../run/open/index.ts";
import { checksWith } from "../../run/suites/index.ts";

interface Names {
  readonly checks: readonly string[];
  readonly requirements: readonly string[];
  readonly suites: readonly string[];
}

/**
 * Names for shell completion.
 *
 * @param files own suites; if one of them cannot be loaded, only the built-in names are known.
 */
export async function namesOf(files: readonly string[]): Promise<Names> {
  const all = await checksWith(files).catch(() => CHECKS);
  return {
    checks: all.map(({ id }) => id),
    requirements: [...REQUIREMENTS, ...customRequirementsOf(all)].map(({ id }) => id),
    suites: [...new Set(all.map(({ id }) => suiteOf(id)))],
  };
}

/** Mutations or variants of the reference gateway. */
export async function mutationOrVariantNames(kind: "mutations" | "variants"): Promise<string[]> {
  const { MUTATIONS, VARIANTS } = await import("../../reference-gateway/index.ts");
  return (kind === "mutations" ? MUTATIONS : VARIANTS).map(({ name }) => name);
}

/** Tiers, built-in workloads, and the YAML files of the current folder. If none fits, the shell completes files of other folders. */
export function workloadNames(beginning: string): string[] {
  const files = readdirSync(".").filter((name) => /\.ya?ml$/.test(name));
  return [...SHIPPED_WORKLOADS, ...files].filter((name) => name.startsWith(beginning));
}

export const scenarioNames = (): string[] => SCENARIOS.map(({ name }) => name);
