import { expect, test } from "vitest";
import { instancesOf, limitedFor, planOf, tokenLimitedFor } from "../../../src/checks/index.ts";
import { parseTarget } from "../../../src/target/index.ts";
import { CHECKS } from "../../../suites/index.ts";

const ENVIRONMENT = { K: "ck-valid-0123456789", L: "ck-limited-0123456789" };
const parse = (text: string) =>
  parseTarget(`keys: { valid: env:K }\nmodels: { chat: m, stream: s }\n${text}`, "t.yaml", ENVIRONMENT);
const OWN = "limits: { rpm: 600, inFlight: 32 }\n";
const ASIDE = "limited: [{ key: env:L, limits: { rpm: 20, inFlight: 4 } }]\n";
const REMOTE = "baseUrl: https://gw.example.test/v1\n";
const LOOPBACK = "baseUrl: http://127.0.0.1:8080/v1\n";

test.each<[what: string, text: string, account: string | undefined]>([
  ["another host, no account set aside", REMOTE + OWN, undefined],
  ["another host, an account set aside", REMOTE + OWN + ASIDE, "limited.0.key"],
  ["another host, authorized", `${REMOTE}${OWN}authorized: true\n`, "valid"],
  ["this machine", LOOPBACK + OWN, "valid"],
])("which account's limits may be reached: %s", (_what, text, account) => {
  expect(limitedFor(parse(text), "rate")?.key.name).toBe(account);
  expect(limitedFor(parse(text), "concurrency")?.key.name).toBe(account);
});

test("every check that needs an account with a limit declares `reaches`", () => {
  const undeclared = CHECKS.filter(
    (check) =>
      check.kind === "sending" &&
      check.reaches === undefined &&
      (check.needs ?? []).some((need) =>
        /^(limited\.|tokenLimits$|tiers$|upgrade$|key\.(cappable|childSmall)$)/.test(need),
      ),
  );
  expect(undeclared.map(({ id }) => id)).toEqual([]);
});

test("without a dedicated account, checks that reach a limit are not planned, and the lines to add are listed", () => {
  const reaching = CHECKS.filter(
    (check) => check.kind === "sending" && check.reaches !== undefined && /^(rate|concurrency)$/.test(check.reaches),
  );
  expect(reaching.length).toBeGreaterThan(10);
  const instances = reaching.flatMap(instancesOf);
  const blocked = planOf(instances, parse(REMOTE + OWN), { canCreateKeys: false });
  expect(blocked.suites.reduce((sum, { requests }) => sum + requests, 0)).toBe(0);
  expect(blocked.unblock.flat().join("\n")).toContain("limited:");
  const allowed = planOf(instances, parse(`${REMOTE}${OWN}authorized: true\n`), { canCreateKeys: false });
  expect(allowed.suites.reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThan(100);
});

test("the token limit of the account of keys.valid is not reached either", () => {
  const tokens = (text: string) =>
    planOf(CHECKS.filter(({ id }) => id.startsWith("token-limits.")).flatMap(instancesOf), parse(text), {
      canCreateKeys: false,
    }).requests;
  const shared = `tokenLimits: { tokensPerMinute: 5000, key: env:K }\n`;
  const aside = `tokenLimits: { tokensPerMinute: 5000, key: env:L }\n`;
  expect(tokenLimitedFor(parse(REMOTE + OWN + shared))?.isAside).toBe(false);
  expect(tokens(REMOTE + OWN + aside)).toBeGreaterThan(tokens(REMOTE + OWN + shared) + 50);
});
