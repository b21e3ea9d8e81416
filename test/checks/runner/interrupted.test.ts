import { expect, test } from "vitest";
import {
  type Check,
  defineCheck,
  defineInvariant,
  instancesOf,
  runChecks,
  Traffic,
} from "../../../src/checks/index.ts";
import { ampleBudget, httpServer, targetOf } from "../../support/judge.ts";

test("after a signal, only the invariants that count requests receive those that it aborted", async () => {
  const controller = new AbortController();
  // Answers the first request, and none after it.
  let count = 0;
  await using server = await httpServer((_request, _body, response) => {
    count++;
    if (count === 1) response.end("{}");
    else controller.abort();
  });
  const seen: Record<string, string[]> = {};
  const lists = (id: `${string}.${string}`, countsRequests = false): Check =>
    defineInvariant({
      countsRequests,
      id,
      title: id,
      covers: ["AUTH-1"],
      explains: id,
      judge: (responses, verdict) => {
        seen[id] = responses.map(({ exchange }) => exchange.ending.kind);
        verdict.notApplicable("it only lists what it receives");
      },
    });
  const sends = defineCheck({
    id: "a.sends",
    title: "Sends two requests",
    covers: ["AUTH-1"],
    explains: "Sends two requests.",
    cost: { requests: 2 },
    async run(t) {
      return { responses: [await t.send(), await t.send()] };
    },
    judge: (_recording, verdict) => verdict.notApplicable("it only sends"),
  });
  const target = targetOf(server.baseUrl);
  await using traffic = new Traffic({ target, budget: ampleBudget(), seed: 1, signal: controller.signal });
  const checks = [sends, lists("a.judges"), lists("a.counts", true)];
  await runChecks({ instances: checks.flatMap(instancesOf), traffic, parallel: 1 });
  expect(seen).toEqual({ "a.judges": ["complete"], "a.counts": ["complete", "aborted"] });
});
