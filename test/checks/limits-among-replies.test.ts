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
