// real-time: checks fill the limits of a minute and wait for Retry-After
import { join } from "node:path";
import { expect, test } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { readMatrix } from "../../scripts/verify/judge/write-pages.ts";
import { readRun } from "../../src/record/index.ts";
import { EXCLUSIONS, REQUIREMENTS } from "../../src/requirements/index.ts";
import { gauntlet, temporaryFolder } from "../support/gauntlet.ts";

test("a real run states every requirement, and each check those that it covers", { timeout: 600_000 }, async () => {
  using folder = temporaryFolder();
  const out = join(folder.path, "run");
  const done = await gauntlet(["conform", "--target", "embedded", "--out", out]);
  expect(done.stdout).toContain("PASS");
  const { checks } = readRun(out).record;
  const blamed = checks.filter(({ status }) => status === "warn" || status === "flaky");
  expect(blamed.map(({ id, message }) => `${id}: ${message}`)).toEqual([]);

  // By requirement: a check, or the reason why there is none. The embedded gateway has no token limit and one address by default.
  const limited = await judgeGateway({ suites: ["token-limits"], tokens: { perMinute: 4_000 } });
  const replicated = await judgeGateway({ suites: ["replicas"], replicas: 2 });
  const one = checks.filter(({ check }) => !check.startsWith("replicas."));
  const judged = [...one, ...limited.results, ...replicated.results];
  const stated = new Set(judged.flatMap(({ findings }) => findings.flatMap(({ requirements }) => requirements)));
  const excluded = new Set<string>(EXCLUSIONS.map(({ requirement }) => requirement));
  expect(REQUIREMENTS.map(({ id }) => id).filter((id) => !stated.has(id) && !excluded.has(id))).toEqual([]);

  // By check: it states every requirement that it covers, here or about a mutation that breaks it, and no other.
  const broken = new Map<string, Set<string>>();
  for (const { killers } of readMatrix().kills)
    for (const [check, requirements] of Object.entries(killers))
      broken.set(check, new Set([...(broken.get(check) ?? []), ...requirements]));
  const unstated: string[] = [];
  const uncovered: string[] = [];
  for (const check of new Set(judged.map((result) => result.check))) {
    const own = judged.filter((result) => result.check === check);
    const said = new Set(own.flatMap(({ findings }) => findings.flatMap(({ requirements }) => requirements)));
    const covers = new Set(own.flatMap(({ requirements }) => requirements));
    const known = new Set([...said, ...(broken.get(check) ?? [])]);
    const isJudged = own.some(({ status }) => status !== "not-applicable");
    if (isJudged)
      unstated.push(
        ...[...covers].filter((requirement) => !known.has(requirement)).map((requirement) => `${check} ${requirement}`),
      );
    uncovered.push(
      ...[...said].filter((requirement) => !covers.has(requirement)).map((requirement) => `${check} ${requirement}`),
    );
  }
  expect({ unstated, uncovered }).toEqual({ unstated: [], uncovered: [] });
});
