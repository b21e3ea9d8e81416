// real-time: checks fill the limits of a minute and wait for Retry-After
import { expect, test } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { instancesOf } from "../../src/checks/index.ts";
import { causesOf } from "../../src/judging/index.ts";
import { CHECKS } from "../../suites/index.ts";

test.each([
  [
    "an event after the end marker is not a chunk",
    "compat.chat-data-after-done",
    /^compat\.chat-stream$/,
    "COMPAT-CHAT-DONE",
  ],
  ["a stream instead of a reply lacks nothing else", "stream.forced-when-false", /^chat\.non-streaming$/, "CHAT-7"],
  [
    "a body that was compressed twice with brotli",
    "denial.compressed-twice",
    /^robustness\.compression$/,
    "HTTP-CODING",
  ],
])("%s", async (_, mutation, check, requirement) => {
  const instances = CHECKS.filter(({ id }) => check.test(id)).flatMap(instancesOf);
  const { results } = await judgeGateway({ mutations: [mutation], instances });
  expect(causesOf(results).map((cause) => cause.requirement)).toEqual([requirement]);
});
