// real-time: sends load, and judges how much of it was served in time
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adversary } from "../../adversary/adversary.ts";
import { type Behaviour, denial, reply, whole } from "../../adversary/behaviour.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

const REFUSES: Behaviour = {
  name: "401",
  respond: (socket) => void socket.write(denial("401 No", "invalid_api_key")),
};
/** Serves for a while, then is down permanently. */
const COLLAPSES: Behaviour = {
  name: "collapse",
  respond: (socket, { count }) => void socket.write(count < 60 ? whole(reply()) : whole("", "503 Down")),
};
const LOAD = "name: flood\narrivals: { kind: constant, ratePerS: 100, durationS: 6 }\nmaxInFlight: 64\n";

async function against(behaviour: Behaviour, args: readonly string[], more = "") {
  using folder = temporaryFolder();
  await using server = await adversary(behaviour, true);
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${server.baseUrl}\nkeys: { valid: env:K }\nmodels: { chat: plain }\n${more}`,
  );
  writeFileSync(join(folder.path, "flood.yaml"), LOAD);
  const ran = await gauntlet([...args, "--target", "t.yaml"], { K: "ck-load-0123456789abcdef" }, folder.path);
  return { ...ran, requests: server.requests() };
}

describe("a useless run stops early", () => {
  test("401 everywhere: conformance finds out that the key is wrong, and judges nothing", async () => {
    const { code, stderr, requests } = await against(REFUSES, ["conform"], "limits: { rpm: 60000, inFlight: 64 }\n");
    expect(stderr).toContain("the gateway rejects the key in keys.valid (401 invalid_api_key");
    expect(code).toBe(2);
    expect(requests).toBeLessThan(10);
  });

  test("401 everywhere: load stops after twenty requests and those in flight", async () => {
    const { code, stderr, requests } = await against(REFUSES, ["load", "flood.yaml"]);
    expect(stderr).toMatch(
      /ending flood: the gateway rejected 20 requests and admitted none \(last: 401 invalid_api_key\)/,
    );
    expect(stderr).toContain("the gateway rejects the key in keys.valid (401 invalid_api_key");
    expect(code).toBe(2);
    expect(requests).toBeLessThan(200);
  });

  test("load on a target that collapses stops, and the report says so", async () => {
    const { code, stdout, requests } = await against(COLLAPSES, ["load", "flood.yaml"]);
    expect(stdout).toMatch(
      /load\.circuit: expected every request sent, got load that stopped early: \d+ of the last 50 requests failed, last with 503; the rest was not sent/,
    );
    expect([1, 4]).toContain(code);
    expect(requests).toBeLessThan(300);
  });

  test("unless the target file says otherwise", async () => {
    const { requests } = await against(COLLAPSES, ["load", "flood.yaml"], "circuit: off\n");
    expect(requests).toBeGreaterThan(450);
  });
});

describe("load to a host of a third party", () => {
  const onOtherHost = async (more: string, args: readonly string[]) => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "flood.yaml"), LOAD);
    writeFileSync(
      join(folder.path, "t.yaml"),
      `baseUrl: http://gw.example.invalid/v1\nkeys: { valid: env:K }\nlimits: starter\n${more}`,
    );
    return await gauntlet([...args, "--target", "t.yaml"], { K: "ck-load-0123456789abcdef" }, folder.path);
  };

  test.each([["load", "flood.yaml"], ["limits"], ["capacity", "--objective", "failed < 1%"]])(
    "%s is refused before anything is sent",
    async (...args) => {
      const { code, stderr } = await onOtherHost("", args);
      expect(stderr).toMatch(/load would go to gw\.example\.invalid, which is not this machine.*authorized: true/);
      expect(code).toBe(2);
    },
  );

  test("if authorized, the plan is shown first, with what it may cost", async () => {
    const prices = "authorized: true\nprices: { inputPerMTok: 3, outputPerMTok: 15 }\n";
    const plan =
      /plan for .*\(flood, models\): at most 632 requests, at most 38,400 output tokens, about 100 requests\/s at the peak, up to 64 in flight, about 6 s, at most 0\.63 USD/;
    const dry = await onOtherHost(prices, ["load", "flood.yaml", "--dry-run"]);
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(plan) });
    const wet = await onOtherHost(prices, ["load", "flood.yaml"]);
    expect(wet.stderr).toMatch(plan);
    expect(wet.code).toBe(3);
  });

  test("a plan beyond the budget is not started", async () => {
    const { code, stderr } = await onOtherHost("authorized: true\nbudget: { requests: 100 }\n", ["load", "flood.yaml"]);
    expect(stderr).toContain("the plan has 632 requests, the budget of the target is 100");
    expect(stderr).toContain("Set `budget: { requests: 632 }` in the target file");
    expect(code).toBe(2);
  });
});
