// real-time: sends load, and judges how much of it was served in time
import { expect, test } from "vitest";
import { counted, plannedIn } from "../../support/counted-command.ts";

/** Budgets that leave room for all checks. */
test.concurrent.each<[command: string, budget: number, share: number]>([
  ["conform --quick --target t.yaml", 1_500, 0.5],
  ["conform --target t.yaml", 8_000, 0.5],
  ["compare t.yaml t.yaml --pairs 10 --block-s 0.5 --suites models", 2_000, 0.3],
])("%s within a budget of %i", { timeout: 600_000 }, async (command, budget, share) => {
  const { sent, planned, plans, stderr, stdout } = await counted(command.split(" "), budget);
  expect(plans.length, stderr + stdout).toBeGreaterThan(0);
  for (const plan of plans) expect(plan).toBeLessThanOrEqual(budget);
  expect(sent).toBeLessThanOrEqual(planned);
  expect(sent).toBeGreaterThan(planned * share);
});

test.concurrent("a dry run prints the same plan as a quick run", {
  timeout: 200_000,
}, async () => {
  const args = ["conform", "--quick", "--target", "t.yaml"];
  const dry = await counted([...args, "--dry-run"]);
  const wet = await counted(args);
  expect(dry.sent).toBe(0);
  expect(wet.plans[0]).toBe(plannedIn(dry.stdout));
});
