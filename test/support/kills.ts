import { expect } from "vitest";
import { type JudgeOptions, judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { type Instance, instancesOf, suiteOf } from "../../src/checks/index.ts";
import { MUTATIONS } from "../../src/reference-gateway/index.ts";
import { isMust } from "../../src/requirements/index.ts";
import { CHECKS } from "../../suites/index.ts";

const INSTANCES = new Map(CHECKS.flatMap(instancesOf).map((instance) => [instance.id, instance]));

/** Mutations, the check that must detect each, and a requirement that it must report as broken. */
export const DEFECTS = MUTATIONS.flatMap(({ name, breaks, detectedBy = {} }) =>
  Object.entries(detectedBy).map(([id, requirement]) => [name, id, requirement, breaks] as const),
);

export type Defect = (typeof DEFECTS)[number];

export const isOfReplicas = (id: string): boolean => suiteOf(id) === "replicas";

/** Checks that read a ledger, or use up one key after the other. */
export const isOfLedger = (id: string): boolean => suiteOf(id) === "ledger" || id.endsWith("-parallel");

/** Detected in a requirement that only warns, by a check in which a MUST is broken as well. */
const ALSO_BREAKS_A_MUST = ["provider.long-reasoning-ends-stream"];

function instanceOf(id: string): Instance {
  const instance = INSTANCES.get(id);
  if (instance === undefined) throw new Error(`no check ${id}`);
  return instance;
}

/** The check of a defect fails, or warns, in its requirement. */
export async function expectKilled(...[mutation, id, requirement, breaks]: Defect): Promise<void> {
  // A quick run sends fewer of the small requests, which are alike.
  const { results } = await judgeGateway({
    mutations: [mutation],
    instances: [instanceOf(id)],
    isQuick: isOfLedger(id),
  });
  const status = isMust(requirement) || ALSO_BREAKS_A_MUST.includes(mutation) ? "fail" : "warn";
  expect(results).toMatchObject([{ id, status }]);
  expect(results[0]?.violated).toContain(requirement);
  expect(breaks).toContain(requirement);
}

/** The checks of defects pass on the gateway as it is. */
export async function expectSound(
  defects: readonly Defect[],
  options: Pick<JudgeOptions, "isQuick" | "replicas"> = {},
): Promise<void> {
  const instances = [...new Set(defects.map(([, id]) => id))].map(instanceOf);
  const { results } = await judgeGateway({ instances, ...options });
  expect(results).toHaveLength(instances.length);
  // Long events do not apply to a gateway whose events are all short.
  const bad = results.filter(
    ({ check, status }) => !["pass", "observed"].includes(status) && check !== "streaming.long-events",
  );
  expect(bad.map(({ id, status, message }) => `${id} ${status}: ${message}`)).toEqual([]);
}
