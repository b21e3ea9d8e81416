import { describe, expect, test } from "vitest";
import { judged, seen } from "../support/seen-response.ts";

const response = (status: number, reason?: string, sentMs = 0) =>
  seen({ sentMs, endMs: sentMs + 5, status, ...(reason !== undefined && { reason }) });
const rateDenial = () => response(429, "rate_limit_exceeded");
const invalid = () => response(401, "invalid_api_key");
const served = () => response(200);

describe("the rate, by spelling", () => {
  const KIND = "`bearer` in lower case";
  const entry = (kind: string, one: () => ReturnType<typeof seen>) => ({
    kind,
    before: rateDenial(),
    tries: [one(), one(), one()],
    after: rateDenial(),
    seconds: 0.1,
  });
  const status = (spelled: readonly object[]) =>
    judged("limits.rate-shared-by-spellings", {
      limits: { rpm: 20, inFlight: 4 },
      whileDenied: [entry("streams", rateDenial)],
      spelled,
    }).status;

  test("is separate if a spelling is served while the account is denied", () => {
    expect(status([entry(KIND, served)])).toBe("fail");
    expect(status([entry("two spaces", invalid), entry(KIND, served)])).toBe("fail");
  });

  test("is the account's if every accepted spelling is denied, too", () => {
    expect(status([entry(KIND, rateDenial)])).toBe("pass");
    expect(status([entry("two spaces", invalid), entry(KIND, rateDenial)])).toBe("pass");
  });

  test("is not judged if no other spelling is accepted, or none was tried", () => {
    expect(status([entry(KIND, invalid)])).toBe("not-applicable");
    expect(status([])).toBe("not-applicable");
  });
});

describe("requests in flight, by spelling", () => {
  const held = [seen({ sentMs: 0, beganMs: 1, endMs: 1_000 })];
  const full = (sentMs = 10) => response(429, "concurrency_limit_exceeded", sentMs);
  const status = (...responses: readonly object[]) =>
    judged("limits.concurrency-shared-by-spellings", {
      held,
      burst: [],
      unnamed: "rate",
      spaced: false,
      spelled: [{ kind: "two spaces", responses }],
    }).status;

  test("are separate if a spelling is served while the limit is in flight", () => {
    expect(status(full(), response(200, undefined, 20))).toBe("fail");
  });

  test("are the account's if every accepted spelling is denied, too", () => {
    expect(status(full(), full(20))).toBe("pass");
  });

  test("are not judged if no other spelling is accepted, and inconclusive if it was accepted too late", () => {
    expect(status(invalid(), invalid())).toBe("not-applicable");
    expect(status(response(200, undefined, 2_000))).toBe("inconclusive");
  });
});

describe("spending, by spelling", () => {
  const usedUp = (spelled: readonly object[]) =>
    judged("spending.budget-spellings", {
      before: served(),
      drives: [{ denial: response(429, "budget_exhausted") }],
      state: "childSmall",
      spelled,
    }).status;
  const denied = () => response(429, "budget_exhausted");
  const entry = (first: object, later: readonly object[] = [], usual: object | null = null) => ({
    spelling: "`bearer` in lower case",
    first,
    later,
    usual,
    nonexistent: null,
  });

  test("is separate if a spelling is served again after the tally had time to settle", () => {
    expect(usedUp([entry(served(), [served(), served(), served()], denied())])).toBe("fail");
  });

  test("is the key's if a spelling is denied, immediately or a little later, or is not accepted", () => {
    expect(usedUp([entry(denied()), entry(invalid())])).toBe("pass");
    expect(usedUp([entry(served(), [denied(), denied(), denied()], denied())])).toBe("pass");
  });

  test("is inconclusive if a key that does not exist is served in the same spelling", () => {
    const open = { ...entry(served(), [served(), served(), served()], denied()), nonexistent: served() };
    expect(usedUp([open])).toBe("inconclusive");
    expect(usedUp([{ ...open, nonexistent: invalid() }])).toBe("fail");
  });

  test("is inconclusive if the key is served again in its usual spelling", () => {
    expect(usedUp([entry(served(), [served(), served(), served()], served())])).toBe("inconclusive");
    expect(usedUp([])).toBe("not-applicable");
  });
});
