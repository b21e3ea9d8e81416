// real-time: checks fill the limits of a minute and wait for Retry-After
import { describe, expect, test } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { MUTATIONS } from "../../src/reference-gateway/index.ts";

/** Two minutes of real windows, twice if something is found, and a margin for a busy machine. */
const TIMEOUT = { timeout: 420_000 };
const SUITES = ["token-limits"];

describe.concurrent("a token limit, in real time", () => {
  test.each(["total", "prompt", "reserved"] as const)(
    "that counts %s is judged and not blamed",
    TIMEOUT,
    async (counts) => {
      const { results } = await judgeGateway({ suites: SUITES, tokens: { perMinute: 4_000, counts } });
      expect(results.map(({ id, status, message }) => [id, status, status === "pass" ? "" : message])).toEqual(
        ["enforced", "at-once", "not-early", "denial", "retry-after", "remaining"].map((name) => [
          `token-limits.${name}`,
          "pass",
          "",
        ]),
      );
    },
  );

  test.each([
    ["tokens.prompt-only", "token-limits.enforced", "fail", "TOKENS-ENFORCED"],
    ["tokens.unusual-scheme-free", "token-limits.enforced", "fail", "TOKENS-ENFORCED"],
    ["tokens.checked-before-counted", "token-limits.at-once", "fail", "TOKENS-AT-ONCE"],
    ["tokens.halved", "token-limits.not-early", "fail", "TOKENS-NOT-EARLY"],
    ["tokens.denied-as-spending", "token-limits.denial", "fail", "TOKENS-DENIAL"],
    ["tokens.retry-after-half", "token-limits.retry-after", "warn", "TOKENS-RETRY-AFTER"],
    ["tokens.remaining-stays", "token-limits.remaining", "warn", "TOKENS-REMAINING"],
  ] as const)("%s is found by %s", TIMEOUT, async (mutation, id, status, requirement) => {
    const { results } = await judgeGateway({ suites: SUITES, mutations: [mutation] });
    expect(results.filter((result) => result.id === id)).toMatchObject([{ status, violated: [requirement] }]);
    expect(MUTATIONS.find(({ name }) => name === mutation)?.breaks).toContain(requirement);
  });

  test("if simultaneous requests are all admitted, denials are still judged", TIMEOUT, async () => {
    const { results } = await judgeGateway({ suites: SUITES, mutations: ["tokens.checked-before-counted"] });
    expect(results.filter(({ status }) => status === "inconclusive").map(({ message }) => message)).toEqual([]);
  });
});
