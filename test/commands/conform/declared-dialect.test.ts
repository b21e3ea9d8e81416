// real-time: sends load, and judges how much of it was served in time
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type FrontOptions, startProxy } from "../../support/front.ts";
import { gauntlet, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";

type Dialect = "chat" | "messages";

const PATHS = { chat: "/chat/completions", messages: "/messages" } as const;

/** The reference gateway without one of its dialects, and a target file with everything that it has. */
async function gatewayOf(dialect: Dialect, declared: boolean) {
  const folder = temporaryFolder();
  const gateway = startGauntlet(["gateway"]);
  const ready = JSON.parse((await gateway.printed("\n")).split("\n")[0] ?? "");
  const requested: string[] = [];
  const gone: FrontOptions = {
    intercept: (path) => {
      const missing = PATHS[dialect === "chat" ? "messages" : "chat"];
      if (!path.startsWith(missing)) return undefined;
      // Below it is an invented path, which belongs to neither dialect.
      if (path === missing) requested.push(path);
      return { status: 404, headers: { "Content-Type": "application/json" }, body: '{"detail":"Not Found"}' };
    },
  };
  const front = await startProxy(ready.baseUrl, gone);
  const environment: Record<string, string> = {};
  const reference = (key: string) => {
    const name = `K_${Object.keys(environment).length}`;
    environment[name] = key;
    return `env:${name}`;
  };
  const pair = (account: { key: string; second: string }) => ({
    key: reference(account.key),
    second: reference(account.second),
  });
  const target = {
    baseUrl: front.baseUrl,
    keys: Object.fromEntries(Object.entries<string>(ready.keys).map(([name, key]) => [name, reference(key)])),
    models: ready.models,
    limits: ready.limits,
    limited: ready.limited.map((account: { key: string; second: string; limits: object }) => ({
      ...pair(account),
      limits: account.limits,
    })),
    tiers: { starter: pair(ready.tiers.starter) },
    ...(declared && { dialects: [dialect] }),
  };
  writeFileSync(join(folder.path, "t.yaml"), JSON.stringify(target));
  return {
    requested,
    path: folder.path,
    run: (...args: string[]) => gauntlet([...args, "--target", "t.yaml"], environment, folder.path),
    /** Sends a workload, given as text. */
    load(name: string, workload: string) {
      writeFileSync(join(folder.path, `${name}.yaml`), workload);
      return this.run("load", `${name}.yaml`, "--json", "--out", `load-${name}`);
    },
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

interface Document {
  readonly verdict: string;
  readonly headline: string;
  readonly summary: string;
  readonly checks: readonly { readonly id: string; readonly status: string; readonly message: string }[];
  readonly load?: { readonly runs: readonly { phases: { classes: { dialect: string }[] }[] }[] };
}

const recordIn = (folder: string, run: string) =>
  JSON.parse(readFileSync(join(folder, run, "run.json"), "utf8")) as Document;

const BAD = ["harness-error", "fail", "flaky", "blocked", "inconclusive", "warn"];

/** What is wrong, except load phases that are inconclusive on a busy machine. */
function notRight({ checks }: Document): string[] {
  return checks
    .filter(({ id, status }) => BAD.includes(status) && !(status === "inconclusive" && id.startsWith("load.")))
    .map(({ id, status, message }) => `${status} ${id}: ${message}`);
}

describe.concurrent.each(["chat", "messages"] as const)(
  "a gateway that serves and declares only the %s dialect",
  (dialect) => {
    test("passes all applicable checks, under load too, and gets no request in the other", {
      timeout: 400_000,
    }, async () => {
      await using gateway = await gatewayOf(dialect, true);
      const { stdout, code } = await gateway.run("run", "--quick", "--json", "--out", "run");
      const document = JSON.parse(stdout) as Document;
      expect(notRight(document)).toEqual([]);
      expect([0, 4]).toContain(code);
      expect(stdout).toContain(`(${dialect} dialect only; quick`);
      expect(gateway.requested).toEqual([]);
      const other = dialect === "chat" ? "messages" : "chat";
      const checksIn = (name: string) => document.checks.filter(({ id }) => new RegExp(`\\[${name}[,\\]]`).test(id));
      expect(checksIn(dialect).some(({ status }) => status === "pass")).toBe(true);
      const left = checksIn(other).map(({ status, message }) => `${status}: ${message}`);
      expect([...new Set(left)]).toEqual([
        `not-applicable: dialect.${other}: the target declares dialects: [${dialect}]`,
      ]);
    });
  },
);

describe("a gateway without the messages dialect", () => {
  test("is judged by its limits if it declares that", { timeout: 400_000 }, async () => {
    await using gateway = await gatewayOf("chat", true);
    const only = ["limits.rate-shared-by-kinds", "limits.rate-shared-by-keys", "limits.concurrency-shared-by-kinds"];
    const args = only.flatMap((check) => ["--only", check]);
    const { stdout } = await gateway.run("conform", ...args, "--json", "--out", "run");
    const document = JSON.parse(stdout) as Document;
    expect(document.checks.map(({ id, status }) => `${id} ${status}`).sort()).toEqual(
      only.map((check) => `${check} pass`).sort(),
    );
    expect(gateway.requested).toEqual([]);
  });

  test("fails if it does not declare that, with a hint to declare it", { timeout: 200_000 }, async () => {
    await using gateway = await gatewayOf("chat", false);
    const args = ["--only", "service.replies", "--only", "chat.minimal"];
    const { stderr, code } = await gateway.run("conform", ...args, "--out", "run");
    const document = recordIn(gateway.path, "run");
    expect(document.checks.filter(({ status }) => status === "fail").map(({ id }) => id)).toEqual([
      "service.replies[messages,non-streaming]",
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain(
      "every request to /messages got 404, and /chat/completions is served. If the gateway has no messages dialect, declare it in the target file: dialects: [chat]",
    );
    const looked = await gateway.run("doctor");
    expect(looked.stdout).toContain("declare it in the target file: dialects: [chat]");
  });

  test("gets only load in its own dialect from a workload with both", { timeout: 120_000 }, async () => {
    await using gateway = await gatewayOf("chat", true);
    const arrivals = "{ kind: constant, ratePerS: 20, durationS: 2 }";
    const both = "[{ dialect: chat }, { dialect: messages }, { dialect: messages, stream: true }]";
    await gateway.load("both", `{ name: both, arrivals: ${arrivals}, mix: ${both} }`);
    const { runs } = recordIn(gateway.path, "load-both").load ?? { runs: [] };
    const dialects = runs.flatMap(({ phases }) => phases.flatMap(({ classes }) => classes.map((one) => one.dialect)));
    expect([...new Set(dialects)]).toEqual(["chat"]);
    expect(gateway.requested).toEqual([]);
    const other = await gateway.load("other", `{ name: other, arrivals: ${arrivals}, mix: [{ dialect: messages }] }`);
    expect(other).toMatchObject({ code: 2 });
    expect(other.stderr).toContain("other has no request in a dialect that the target serves");
  });
});
