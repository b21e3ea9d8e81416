import { expect, test } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge-gateway.ts";
import { instancesOf } from "../../src/checks/index.ts";
import { causesByDeviation } from "../../src/judging/index.ts";
import { CHECKS } from "../../suites/index.ts";

const chosen = (pattern: RegExp) => CHECKS.flatMap(instancesOf).filter(({ id }) => pattern.test(id));

test("a stream that is refused after it began is one warning, in every check together", {
  timeout: 120_000,
}, async () => {
  const instances = chosen(
    /^(?:chat\.(?:required-fields|unreadable-body)\[streaming|messages\.(?:max-tokens-mandatory|required-fields)\[streaming|errors\.upstream-failure|errors\.success-is-a-reply|robustness\.bad-body)/,
  );
  const { results } = await judgeGateway({ variants: ["errors.refused-after-the-stream-began"], instances });
  const bad = results.filter(({ status }) => !["pass", "observed", "not-applicable"].includes(status));
  expect(bad.map(({ id, status, violated }) => [id, status, violated])).toEqual([
    ["errors.success-is-a-reply", "warn", ["REFUSED-IN-TIME"]],
  ]);
  const [cause, ...others] = [...causesByDeviation(results).values()];
  expect(others).toEqual([]);
  expect(cause?.advice).toMatch(/too late to have a status/);
  // It was refused, which is not the same as a pass.
  const required = results.find(({ id }) => id.startsWith("chat.required-fields[streaming"));
  expect(required?.status).toBe("observed");
});

test("a denial whose status the specification names still fails, with the same cause", {
  timeout: 60_000,
}, async () => {
  const { results } = await judgeGateway({
    mutations: ["denial.model-not-found-inside-stream"],
    instances: chosen(/^errors\.(?:model-not-found\[|success-is-a-reply)/),
  });
  const failed = results.filter(({ status }) => status === "fail");
  expect(failed.map(({ id }) => id)).toEqual([
    "errors.model-not-found[chat,streaming]",
    "errors.model-not-found[messages,streaming]",
    "errors.success-is-a-reply",
  ]);
  expect(failed[0]?.violated).toContain("STREAM-2");
  const [cause] = [...causesByDeviation(results).values()];
  expect(cause?.advice).toMatch(/too late to have a status/);
});
