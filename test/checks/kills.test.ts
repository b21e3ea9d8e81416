// real-time: checks fill the limits of a minute and wait for Retry-After
import { describe, expect, it } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { instancesOf, suiteOf } from "../../src/checks/index.ts";
import { MUTATIONS } from "../../src/reference-gateway/index.ts";
import { isMust } from "../../src/requirements/index.ts";
import { CHECKS } from "../../suites/index.ts";

const INSTANCES = new Map(CHECKS.flatMap(instancesOf).map((instance) => [instance.id, instance]));

/** Mutations, the check that must detect each, and a requirement that it must report as broken. */
const DEFECTS = MUTATIONS.flatMap(({ name, breaks, detectedBy = {} }) =>
  Object.entries(detectedBy).map(([id, requirement]) => [name, id, requirement, breaks] as const),
);

/** Detected in a requirement that only warns, by a check in which a MUST is broken as well. */
const ALSO_BREAKS_A_MUST = ["provider.long-reasoning-ends-stream"];

function instanceOf(id: string) {
  const instance = INSTANCES.get(id);
  if (instance === undefined) throw new Error(`no check ${id}`);
  return instance;
}

describe.concurrent("every defect fails in its check and requirement, and neither fails without it", () => {
  it.each(DEFECTS)("%s: %s", async (mutation, id, requirement, breaks) => {
    const { results } = await judgeGateway({ mutations: [mutation], instances: [instanceOf(id)] });
    const status = isMust(requirement) || ALSO_BREAKS_A_MUST.includes(mutation) ? "fail" : "warn";
    expect(results).toMatchObject([{ id, status }]);
    expect(results[0]?.violated).toContain(requirement);
    expect(breaks).toContain(requirement);
  });

  it("the same checks pass on the gateway as it is", async () => {
    const instances = [...new Set(DEFECTS.map(([, id]) => id))].map(instanceOf);
    const [single, replicated] = [false, true].map((is) =>
      instances.filter(({ id }) => (suiteOf(id) === "replicas") === is),
    );
    const { results: ofOne } = await judgeGateway({ instances: single ?? [] });
    const { results: ofTwo } = await judgeGateway({ instances: replicated ?? [], replicas: 2 });
    const results = [...ofOne, ...ofTwo];
    expect(ofTwo.length).toBeGreaterThan(0);
    // Long events do not apply to a gateway whose events are all short.
    const bad = results.filter(
      ({ check, status }) => !["pass", "observed"].includes(status) && check !== "streaming.long-events",
    );
    expect(bad.map(({ id, status, message }) => `${id} ${status}: ${message}`)).toEqual([]);
  });
});

/** Suites that need rate windows or a whole run's traffic; other tests and `npm run verify mutations` cover them. */
const COVERED_ELSEWHERE = ["retry-after", "security", "token-limits"];

it("every other suite has a check that a defect fails, and no defect is listed twice", () => {
  const broken = new Set(DEFECTS.map(([, id]) => suiteOf(id)));
  const unbroken = new Set(CHECKS.map(({ id }) => suiteOf(id)).filter((suite) => !broken.has(suite)));
  expect([...unbroken].sort()).toEqual(COVERED_ELSEWHERE);
  expect(DEFECTS.length).toBeGreaterThanOrEqual(40);
  const rows = DEFECTS.map(([mutation, id, , requirement]) => `${mutation} ${id} ${requirement}`);
  expect(rows.filter((row, at) => rows.indexOf(row) !== at)).toEqual([]);
});
