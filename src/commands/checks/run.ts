import Table from "cli-table3";
import { instancesOf } from "../../checks/index.ts";
import { EXIT } from "../../core/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { checksWith } from "../../run/suites/index.ts";

/**
 * Every check with the requirements it covers and their levels.
 *
 * @param suite modules with custom suites.
 */
export async function listChecks(suite: readonly string[]): Promise<Outcome> {
  const all = await checksWith(suite);
  const checks = all.map((check) => ({
    id: check.id,
    title: check.title,
    layer: check.layer,
    instances: instancesOf(check).map(({ id }) => id),
    requirements: check.requirements.map(({ id, level }) => ({ id, level })),
    needs: check.kind === "sending" ? (check.needs ?? []) : [],
  }));
  const table = new Table({
    head: ["check", "instances", "requirements"],
    style: { head: [], border: [], compact: true },
  });
  for (const { id, instances, requirements } of checks) {
    table.push([id, String(instances.length), requirements.map((one) => `${one.id} (${one.level})`).join(", ")]);
  }
  return {
    exitCode: EXIT.pass,
    document: { schemaVersion: 1, checks },
    text: () => `${table.toString()}\n${all.length} checks, ${all.flatMap(instancesOf).length} check instances\n`,
  };
}
