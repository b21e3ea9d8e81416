// real-time: keys and spend may take more than a minute to be known at every address
import { describe, expect, it } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { instancesOf, suiteOf } from "../../src/checks/index.ts";
import { VARIANTS } from "../../src/reference-gateway/index.ts";
import { CHECKS } from "../../suites/index.ts";
import { DEFECTS, expectKilled, expectSound, isOfReplicas } from "../support/kills.ts";

const REPLICAS = CHECKS.filter(({ id }) => suiteOf(id) === "replicas").flatMap(instancesOf);
const OF_REPLICAS = DEFECTS.filter(([, id]) => isOfReplicas(id));
const TIMEOUT = { timeout: 300_000 };

describe.concurrent("every defect of replicas fails in its check and requirement, and neither fails without it", () => {
  it.each(OF_REPLICAS)("%s: %s", TIMEOUT, expectKilled);

  it("the same checks pass on the gateway as it is", TIMEOUT, () => expectSound(OF_REPLICAS, { replicas: 2 }));
});

describe.concurrent("replicas that differ, or that know of each other late, are not blamed", () => {
  const names = VARIANTS.filter(({ area }) => area === "replicas").map(({ name }) => name);

  it.each(names)("%s", TIMEOUT, async (name) => {
    const { results } = await judgeGateway({ variants: [name], instances: REPLICAS });
    expect(results.map(({ id }) => id)).toEqual(REPLICAS.map(({ id }) => id));
    const bad = results.filter(({ status }) => status !== "pass");
    expect(bad.map(({ id, status, message }) => `${id} ${status}: ${message}`)).toEqual([]);
  });
});
