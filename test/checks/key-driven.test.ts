import { expect, test } from "vitest";
import { RequestBudget } from "../../src/budget/index.ts";
import { Traffic } from "../../src/checks/index.ts";
import { Session } from "../../src/checks/runner/session.ts";
import { startGatewayInFront } from "../../src/commands/gateway/gateway-in-front.ts";
import { prepare } from "../../src/run/preflight/preflight.ts";
import { describeEmbedded, type ReadyLine, type Target } from "../../src/target/index.ts";
import { type Drive, drive, effortFor } from "../../suites/spending/drive.ts";
import { judged, seen } from "../support/seen-response.ts";

const CHAT = { endpoint: "chat", mode: "non-streaming" } as const;
/** Enough large requests that a small token budget does not pay for all. */
const EFFORT = { small: 60, large: 40, waitBetween: false };

/** Drives a key of a gateway that charges nothing, within this much of the run's own budget. */
async function driveWithoutDenial(outputTokens: number): Promise<Drive> {
  await using gateway = await startGatewayInFront({ mutations: ["charge.nothing"] });
  const { target: embedded, provisioner } = describeEmbedded(gateway.ready as unknown as ReadyLine);
  const target: Target = { ...embedded, budget: { ...embedded.budget, outputTokens } };
  await using traffic = new Traffic({
    target,
    budget: new RequestBudget(target.budget),
    provisioner,
    seed: 7,
    signal: new AbortController().signal,
  });
  await prepare(traffic);
  const key = await traffic.fixtures.freshKey("key.childSmall");
  if (key === undefined) throw new Error("the embedded gateway makes no such key");
  return await drive(new Session(traffic, { dialect: "chat", mode: "non-streaming" }), key, CHAT, 0, EFFORT);
}

test("a key that is never denied is driven as far as required, or as far as the run's budget allows", async () => {
  expect(await driveWithoutDenial(10_000_000)).toMatchObject({ denial: null, stoppedBecause: null, served: 100 });
  const short = await driveWithoutDenial(40_000);
  expect(short).toMatchObject({
    denial: null,
    stoppedBecause: expect.stringContaining("the run's budget of output tokens"),
  });
  expect(short.served).toBeLessThan(100);
});

const driven = (more: Partial<Drive> = {}): Drive => ({
  kind: CHAT,
  served: 100,
  first: null,
  denial: null,
  waitedS: 8,
  stoppedBecause: null,
  ...more,
});
const recording = (drives: readonly Drive[]) => ({
  drives,
  before: seen({ sentMs: 0, endMs: 5 }),
  state: "childSmall",
});

test("only a key that was driven far enough shows that its limit is not enforced", () => {
  const status = (drive: Drive) => judged("spending.budget-sets-in", recording([drive])).status;
  expect(status(driven())).toBe("warn");
  expect(status(driven({ stoppedBecause: "of no room" }))).toBe("inconclusive");
});

test("a drive that stopped early says nothing about what the next one needs", () => {
  expect(effortFor([driven({ stoppedBecause: "of no room" })])).toEqual(effortFor([]));
  expect(effortFor([driven()])).not.toEqual(effortFor([]));
});

test("a kind of request that is still served and cannot be driven further leaves the denials undecided", () => {
  const denial = seen({ sentMs: 1, endMs: 2, status: 429, reason: "budget_exhausted" });
  const expected = { reason: "budget_exhausted", status: 429, readAs: "budget_exhausted", actionHint: false };
  const denied = { ...recording([driven({ denial })]), expected, denied: [denial], again: null };
  const status = (open: string | null) => judged("spending.budget-denied", { ...denied, open }).status;
  expect(status(null)).not.toBe("inconclusive");
  expect(status("chat, streamed: stopped early")).toBe("inconclusive");
});
