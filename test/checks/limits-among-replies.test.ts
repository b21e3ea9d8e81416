import { expect, test } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { instancesOf } from "../../src/checks/index.ts";
import { CHECKS } from "../../suites/index.ts";

const instances = CHECKS.filter(({ id }) => id.startsWith("limits.rate-")).flatMap(instancesOf);

test("no limit passes, and none fails, on a gateway whose replies are HTML pages", async () => {
  const { results } = await judgeGateway({ mutations: ["reply.html-page"], instances, isQuick: true });
  const ofAccount = results.filter(({ exchanges }) => exchanges.length > 0);
  expect(ofAccount.length).toBeGreaterThan(2);
  expect(ofAccount.filter(({ status }) => status === "pass" || status === "fail" || status === "warn")).toEqual([]);
  expect(ofAccount.map(({ message }) => message)).toContainEqual(expect.stringContaining("HTML page"));
});

test("no check of replicas passes on gateways whose replies are HTML pages", { timeout: 60_000 }, async () => {
  const ids = [
    "replicas.models",
    "replicas.isolation",
    "replicas.key-states",
    "replicas.concurrency",
    "replicas.release",
  ];
  const { results } = await judgeGateway({
    mutations: ["reply.html-page"],
    replicas: 2,
    instances: CHECKS.filter(({ id }) => ids.includes(id)).flatMap(instancesOf),
  });
  expect(results).toHaveLength(ids.length);
  const passed = results.filter(({ status }) => status === "pass").map(({ id }) => id);
  // The model list of this gateway is a list.
  expect(passed).toEqual(["replicas.models"]);
});
