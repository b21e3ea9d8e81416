// real-time: ends processes at a moment of their work
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../../scripts/docs/generated-files.ts";
import { gauntlet, type Running, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";

let gateway: Running;
let ready: { readonly baseUrl: string; readonly keys: { readonly valid: string } };
beforeAll(async () => {
  gateway = startGauntlet(["gateway"]);
  ready = JSON.parse(await gateway.printed("\n"));
});
afterAll(() => gateway[Symbol.asyncDispose]());

const WAITING = "to change; press Ctrl-C to stop";

/** A suite whose check sends this many requests, ten per second, and expects this status. */
const suite = (status: number, requests = 1) => `
import { defineCheck } from "gateway-gauntlet";
export default [defineCheck({
  id: "acme.status", title: "The status", covers: ["BASE-3"], explains: "Its status.", cost: { requests: ${requests} },
  async run(t) {
    for (let sent = 1; sent < ${requests}; sent++) {
      await t.send();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return { response: await t.send() };
  },
  judge({ response }, verdict) { verdict.must("BASE-3", response.status, ${status}); },
})];
`;

function project() {
  const folder = temporaryFolder();
  mkdirSync(join(folder.path, "node_modules"));
  symlinkSync(ROOT, join(folder.path, "node_modules", "gateway-gauntlet"), "dir");
  const write = (name: string, text: string) => {
    // As editors do it.
    writeFileSync(join(folder.path, "new"), text);
    renameSync(join(folder.path, "new"), join(folder.path, name));
  };
  const target = `baseUrl: ${ready.baseUrl}\nkeys: { valid: env:K }\nmodels: { chat: echo-fast }\n`;
  write("t.yaml", target);
  write("s.mjs", suite(200));
  const start = () =>
    startGauntlet(
      ["conform", "acme", "--suite", "s.mjs", "--target", "t.yaml", "--watch", "--out", "r"],
      { K: ready.keys.valid },
      folder.path,
    );
  const recordOf = (name: string) => JSON.parse(readFileSync(join(folder.path, name, "run.json"), "utf8"));
  return { path: folder.path, write, target, start, recordOf, [Symbol.dispose]: folder[Symbol.dispose] };
}

const endedRuns = (count: number) => new RegExp(`(?:${WAITING}[\\s\\S]*){${count}}`);

describe("conform --watch", () => {
  test("runs again when a suite or the target file changes, each time into its own folder", async () => {
    using own = project();
    await using running = own.start();
    await running.printed(endedRuns(1));
    own.write("s.mjs", suite(299));
    expect(await running.printed(endedRuns(2))).toContain("s.mjs changed: running the checks again");
    own.write("t.yaml", `${own.target}name: second\n`);
    expect(await running.printed(endedRuns(3))).toContain("t.yaml changed: running the checks again");
    // Saved without a change, and another file of the folder.
    own.write("t.yaml", `${own.target}name: second\n`);
    own.write("other.yaml", "x");
    await wait(1_000);
    running.child.kill("SIGINT");
    const { code, stdout } = await running.finished;
    expect(code).toBe(1);
    expect(stdout.match(/^exit code \d/gm)).toEqual(["exit code 0", "exit code 1", "exit code 1"]);
    expect(["r", "r-2", "r-3"].map((name) => own.recordOf(name).verdict.result)).toEqual(["pass", "fail", "fail"]);
    expect(own.recordOf("r-3").target.name).toBe("second");
    expect(existsSync(join(own.path, "r-4"))).toBe(false);
  });

  test("a change aborts the current run, which writes its report", async () => {
    using own = project();
    own.write("s.mjs", suite(200, 600));
    await using running = own.start();
    await running.printed("1 check instance");
    own.write("s.mjs", suite(200));
    const printed = await running.printed(endedRuns(1));
    expect(printed).toContain("s.mjs changed: running the checks again");
    expect(own.recordOf("r").complete).toBe(false);
    expect(own.recordOf("r-2").verdict.result).toBe("pass");
  });

  test("a suite that does not parse is reported, and the watch continues", async () => {
    using own = project();
    own.write("s.mjs", "export default [");
    await using running = own.start();
    expect(await running.printed(endedRuns(1))).toMatch(/s\.mjs:1:17: [\s\S]*exit code 2; waiting/);
    own.write("s.mjs", suite(200));
    await running.printed(endedRuns(2));
    running.child.kill("SIGINT");
    expect((await running.finished).code).toBe(0);
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s during a run ends it with its report and exit code %i", async (signal, exitCode) => {
    using own = project();
    own.write("s.mjs", suite(200, 600));
    await using running = own.start();
    await running.printed("1 check instance");
    running.child.kill(signal);
    expect((await running.finished).code).toBe(exitCode);
    expect(own.recordOf("r").verdict.exitCode).toBe(exitCode);
  });

  test.each<[args: string[], says: RegExp]>([
    [["--target", "embedded"], /--watch has no file to watch: the target is the embedded gateway\n.*--target.*--suite/],
    [["--mutation", "auth.unknown-key-403"], /--watch has no file to watch/],
    [["--target", "t.yaml", "--json"], /--watch cannot be combined with --json[\s\S]*Omit one of them/],
    [["--target", "nowhere/t.yaml"], /--watch: \S+nowhere cannot be watched: no such file or folder/],
  ])("%j is rejected before anything is sent", async (args, says) => {
    using folder = temporaryFolder();
    const { code, stderr } = await gauntlet(["conform", "--watch", ...args], {}, folder.path);
    expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
  });
});
