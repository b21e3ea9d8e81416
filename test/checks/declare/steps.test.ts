import { expect, test } from "vitest";
import { costOf, type Step, takeSteps } from "../../../src/checks/declare/steps.ts";
import { defineStepScenario } from "../../../src/checks/index.ts";
import type { Target } from "../../../src/target/index.ts";

type Recording = {
  readonly first: number;
  readonly slow: number | null;
  readonly last: string;
};
const NOTHING: Recording = { first: 0, slow: null, last: "" };
const target = { limits: { rpm: 7 } } as unknown as Target;

const begin = () => ({ shared: [] as string[], recording: NOTHING });
const first: Step<string[], Recording> = {
  name: "first",
  cost: { requests: ({ limits }) => (limits?.rpm ?? 0) / 2, waitS: 1, quick: { requests: 2 } },
  run(taken) {
    taken.push("first");
    return 1;
  },
};
const slow: Step<string[], Recording> = {
  name: "slow",
  cost: { requests: 10, waitS: 60 },
  onlyInFullRun: true,
  async run(taken, recording) {
    taken.push("slow");
    return recording.first + 1;
  },
};
const last: Step<string[], Recording> = {
  name: "last",
  cost: { requests: 3 },
  run: (_, recording) => `after ${recording.slow}`,
};

test("each step sees what the earlier ones recorded", async () => {
  const beginning = begin();
  expect(await takeSteps([first, slow, last], beginning, false)).toEqual({ first: 1, slow: 2, last: "after 2" });
  expect(beginning.shared).toEqual(["first", "slow"]);
  expect(beginning.recording).toEqual({ first: 0, slow: null, last: "" });
});

test("a quick run skips what is only in a full run, and what depends on it", async () => {
  const dependent: Step<string[], Recording> = { ...last, dependsOn: "slow" };
  expect(await takeSteps([first, slow, last], begin(), true)).toEqual({ first: 1, slow: null, last: "after null" });
  expect(await takeSteps([first, slow, dependent], begin(), true)).toEqual({ first: 1, slow: null, last: "" });
});

test("a step is skipped if the one that it depends on recorded null or was not taken", async () => {
  const failing: Step<string[], Recording> = { name: "slow", run: () => null };
  const untaken: Step<string[], Recording> = { ...slow, when: ({ first }) => first > 1 };
  const dependent: Step<string[], Recording> = { ...last, dependsOn: "slow" };
  for (const before of [failing, untaken])
    expect(await takeSteps([first, before, dependent], begin(), false)).toEqual({ first: 1, slow: null, last: "" });
});

test("an error of a step ends the scenario", async () => {
  const beginning = begin();
  const broken: Step<string[], Recording> = {
    name: "last",
    async run() {
      throw new Error("interrupted");
    },
  };
  await expect(takeSteps([broken, first], beginning, false)).rejects.toThrow("interrupted");
  expect(beginning.shared).toEqual([]);
});

test("a scenario costs what the steps of the kind of run cost together, rounded up once", () => {
  const { cost } = defineStepScenario({ id: "suite.scenario", begin, steps: [first, slow, last, first] });
  const requestsOf = ({ requests }: Pick<typeof cost, "requests">) =>
    typeof requests === "function" ? requests(target, {}) : requests;
  expect([requestsOf(cost), cost.waitS]).toEqual([20, 62]);
  expect([cost.quick && requestsOf(cost.quick), cost.quick?.waitS]).toEqual([7, 0]);
  expect(costOf([]).waitS).toBe(0);
});
