import { expect, test } from "vitest";
import { CANARY_CASES, runCanaries } from "../adversary/canaries.ts";
import { gauntlet } from "../support/gauntlet.ts";

test("SEC-1: a command that fails or is ended shows no key (all of them: npm run verify adversary)", async () => {
  const chosen = CANARY_CASES.filter(({ name }) =>
    /interrupted|aborted|diagnos|nobody caught|suite that|metrics that/.test(name),
  );
  const results = await runCanaries(chosen);
  expect(results.filter(({ complaints }) => complaints.length > 0)).toEqual([]);
  expect(results).toHaveLength(6);
});

test("every command is tried with keys that must not appear anywhere", async () => {
  const { stdout } = await gauntlet(["--help"]);
  const commands = [...stdout.matchAll(/^ {2}([a-z0-9]+)(?: [<[]\S+)* {2,}\S/gm)].map(([, name]) => name);
  expect(commands.length).toBeGreaterThan(15);
  const tried = new Set(CANARY_CASES.map(({ args }) => args[0]));
  expect(commands.filter((name) => !tried.has(name ?? ""))).toEqual([]);
});
