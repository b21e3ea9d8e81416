// real-time: sends load, and judges how much of it was served in time
import { describe, expect, test } from "vitest";
import { counted, plannedIn } from "../../support/counted-command.ts";

/** A command sends at most its printed plan, which is at most the target's budget. */
describe.concurrent("sent <= printed plan <= budget", () => {
  test.each<[command: string, budget: number, share: number]>([
    ["load even.yaml --target t.yaml", 110, 0.5],
    ["load closed.yaml --target t.yaml", 500, 0],
    ["load closed.yaml --engine autocannon --target t.yaml", 500, 0],
    ["load even.yaml --workers 2 --target t.yaml", 110, 0.5],
    ["load retries.yaml --target t.yaml", 500, 0],
    ["size even.yaml --verify --target t.yaml", 150, 0.5],
    ["conform models auth --target t.yaml", 300, 0.5],
  ])("%s within a budget of %i", { timeout: 120_000 }, async (command, budget, share) => {
    const { sent, planned, plans, stderr, stdout } = await counted(command.split(" "), budget);
    expect(plans.length, stderr + stdout).toBeGreaterThan(0);
    for (const plan of plans) expect(plan).toBeLessThanOrEqual(budget);
    expect(sent).toBeLessThanOrEqual(planned);
    expect(sent).toBeGreaterThan(planned * share);
  });

  test.each<[command: string, budget: number]>([
    ["limits --minutes 0.3 --target t.yaml", 50],
    ["capacity --objective failed<50% --from 5 --step-s 1 --minutes 0.5 --target t.yaml", 50],
    ["capacity --objective failed<50% --streams --step-s 1 --minutes 0.5 --target t.yaml", 200],
    ["overhead --target t.yaml --direct t.yaml --concurrency 1 --rounds 4 --block-s 0.1 --anyway", 50],
  ])("%s ends within a budget of %i, without a result", { timeout: 120_000 }, async (command, budget) => {
    const { sent, planned, plans, code, stdout } = await counted(command.split(" "), budget);
    expect(plans.every((plan) => plan <= budget)).toBe(true);
    expect(sent).toBeLessThanOrEqual(planned);
    expect(stdout).toMatch(new RegExp(`[Tt]he budget of ${budget} requests`));
    if (!command.startsWith("overhead"))
      expect(stdout).toMatch(/^INCONCLUSIVE: [\s\S]*\nexit code 4 \(inconclusive\)\n$/m);
    expect(code).toBe(4);
  });

  test.each<string>([
    "load even.yaml --target t.yaml",
    "load peak --target t.yaml",
    "load peak --engine native --target t.yaml",
    "size even.yaml --verify --target t.yaml",
    "compare t.yaml t.yaml --pairs 10 --block-s 1",
  ])("%s does not start if the budget is too small", { timeout: 60_000 }, async (command) => {
    const { sent, code, stderr } = await counted(command.split(" "), 60);
    expect(stderr).toMatch(
      /the plan has [\d,]+ requests, the budget of the target is 60\n {2}Set `budget: \{ requests: \d+ \}`/,
    );
    expect([code, sent]).toEqual([2, 0]);
  });

  test.each<[command: string, most: number]>([
    ["doctor --target t.yaml", 30],
    ["doctor --target t.yaml --propose", 94],
  ])("%s sends at most %i", { timeout: 60_000 }, async (command, most) => {
    const { sent, code } = await counted(command.split(" "));
    expect(sent).toBeLessThanOrEqual(most);
    expect(code).toBe(0);
  });

  test.each<string>(["conform models", "load even.yaml"])(
    "%s --dry-run prints the plan of the real run",
    {
      timeout: 120_000,
    },
    async (command) => {
      const args = [...command.split(" "), "--target", "t.yaml"];
      const dry = await counted([...args, "--dry-run"]);
      const wet = await counted(args);
      expect(dry.sent).toBe(0);
      expect(wet.plans[0]).toBe(plannedIn(dry.stdout));
    },
  );
});
