import { expect, test } from "vitest";
import { RequestBudget } from "../../../src/budget/index.ts";
import { type Check, defineCheck, type Instance, instancesOf, runChecks, Traffic } from "../../../src/checks/index.ts";
import { parseTarget } from "../../../src/target/index.ts";

type Order = "parallel" | "background" | "exclusive" | "exclusive-first" | "exclusive-last";

/** A check that sends nothing and reports when it runs. */
function telling(
  id: `${string}.${string}`,
  order: Order,
  { requests = 1, waitS = 0, failsUpstream = false, log }: Telling,
): Check {
  return defineCheck({
    id,
    title: id,
    covers: ["AUTH-1"],
    explains: id,
    schedule: { order, ...(failsUpstream && { failsUpstream }) },
    cost: { requests, waitS },
    async run() {
      log.push(id);
      return { responses: [] };
    },
    judge: (_recording, verdict) => verdict.notApplicable("it only tells when it runs"),
  });
}

interface Telling {
  readonly requests?: number;
  readonly waitS?: number;
  readonly failsUpstream?: boolean;
  readonly log: string[];
}

const target = parseTarget("baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:K }\n", "t.yaml", { K: "sk-12345678" });

async function run(checks: readonly Check[], more: Partial<Parameters<typeof runChecks>[0]> = {}) {
  const controller = new AbortController();
  await using traffic = new Traffic({
    target,
    budget: new RequestBudget(target.budget),
    seed: 1,
    signal: controller.signal,
  });
  const instances: Instance[] = checks.flatMap(instancesOf);
  return await runChecks({ instances, traffic, parallel: 1, ...more });
}

test("long waits begin first, then the cheapest suite, and in it the cheapest checks", async () => {
  const log: string[] = [];
  await run([
    telling("a.expensive", "parallel", { requests: 50, log }),
    telling("a.short-wait", "parallel", { requests: 3, waitS: 2, log }),
    telling("a.cheap", "parallel", { requests: 1, log }),
    telling("a.window", "parallel", { requests: 100, waitS: 60, log }),
    telling("b.small", "parallel", { requests: 2, log }),
    telling("a.alone", "exclusive", { log }),
    telling("a.first", "exclusive-first", { log }),
  ]);
  expect(log).toEqual(["a.first", "a.window", "b.small", "a.cheap", "a.short-wait", "a.expensive", "a.alone"]);
});

test("load begins when the first checks are done, and exclusive checks wait for its end", async () => {
  const log: string[] = [];
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const checks = [
    telling("a.first", "exclusive-first", { log }),
    telling("a.concurrent", "parallel", { log }),
    telling("a.alone", "exclusive", { log }),
    telling("a.last", "exclusive-last", { log }),
  ];
  const running = run(checks, {
    startLoad: async () => {
      log.push("load begins");
      return { ended: ended.then(() => void log.push("load ends")) };
    },
    onResult: ({ check }) => {
      // Longer than everything that may run concurrently.
      if (check === "a.concurrent") setTimeout(end, 50);
    },
  });
  await running;
  expect(log).toEqual(["a.first", "load begins", "a.concurrent", "load ends", "a.alone", "a.last"]);
});

test("checks that make providers fail follow all that need them, except the idle waits", async () => {
  const log: string[] = [];
  await run([
    telling("a.failing", "parallel", { failsUpstream: true, log }),
    telling("a.failing-alone", "exclusive", { failsUpstream: true, log }),
    telling("b.last", "exclusive-last", { log }),
    telling("b.alone", "exclusive", { log }),
    telling("b.concurrent", "parallel", { log }),
  ]);
  expect(log).toEqual(["b.concurrent", "b.alone", "a.failing", "a.failing-alone", "b.last"]);
});

test("checks that make providers fail run in every order", async () => {
  const log: string[] = [];
  const orders = ["exclusive-last", "exclusive", "parallel", "background", "exclusive-first"] as const;
  const results = await run(orders.map((order) => telling(`a.${order}`, order, { failsUpstream: true, log })));
  expect(log).toEqual(["a.exclusive-first", "a.background", "a.parallel", "a.exclusive", "a.exclusive-last"]);
  expect(results.filter(({ status }) => status === "inconclusive")).toEqual([]);
});
