import { describe, expect, test } from "vitest";
import { mostSpentInWindow, possiblySpentAt, type TokenSpend, wrongRemaining } from "../../src/limits/index.ts";

const S = 1_000_000;
const spend = (sentS: number, endS: number, least: number, most = least): TokenSpend => ({
  sentUs: sentS * S,
  endUs: endS * S,
  least,
  most,
});

describe("tokens in one window", () => {
  test.each<[string, TokenSpend[], number]>([
    ["nothing", [], 0],
    ["all of a burst", [spend(0, 1, 100), spend(1, 2, 200)], 300],
    ["what completes a minute later may not count", [spend(0, 1, 100), spend(5, 60, 200)], 200],
    ["the fullest of several", [spend(0, 1, 100), spend(50, 51, 200), spend(70, 71, 150)], 350],
  ])("%s", (_name, spends, expected) => {
    expect(mostSpentInWindow(spends)).toBe(expected);
  });
});

describe("tokens that may count at a moment", () => {
  test.each<[string, TokenSpend[], number]>([
    ["what was held back, not what was used", [spend(99, 100, 10, 80)], 80],
    ["what still runs", [spend(20, 300, 10, 80)], 80],
    ["what ended less than a minute before", [spend(1, 40, 10)], 10],
    ["not what ended more than a minute before", [spend(1, 38, 10)], 0],
    ["not what followed", [spend(101, 102, 10)], 0],
  ])("%s", (_name, spends, expected) => {
    expect(possiblySpentAt(spends, 100 * S)).toBe(expected);
  });
});

describe("remaining tokens that were stated, with a limit of 600 and requests of 100", () => {
  const limit = { tokensPerMinute: 600, one: 100 };
  test.each([
    ["what is then admitted", { stated: 300, spentAfter: 300, tookUs: 0, deniedNext: undefined }, undefined],
    [
      "stated before the request was counted",
      { stated: 400, spentAfter: 300, tookUs: 0, deniedNext: undefined },
      undefined,
    ],
    ["the last one crossed the limit", { stated: 50, spentAfter: 150, tookUs: 0, deniedNext: undefined }, undefined],
    [
      "some were returned meanwhile",
      { stated: 100, spentAfter: 290, tookUs: 10 * S, deniedNext: undefined },
      undefined,
    ],
    ["more was let through", { stated: 100, spentAfter: 201, tookUs: 0, deniedNext: undefined }, "too few"],
    ["the next one did not fit", { stated: 99, spentAfter: 0, tookUs: 0, deniedNext: 100 }, undefined],
    ["the next one fitted without the last", { stated: 199, spentAfter: 0, tookUs: 0, deniedNext: 100 }, undefined],
    ["the next one had room enough", { stated: 200, spentAfter: 0, tookUs: 0, deniedNext: 100 }, "too many"],
  ] as const)("%s", (_name, observed, expected) => {
    expect(wrongRemaining(observed, limit)).toBe(expected);
  });
});
