import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { ROOT } from "../../scripts/docs/generated-files.ts";

import { gauntlet, MAIN, type Running, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { inProcess, PLAIN } from "../support/in-process.ts";
import { httpServer } from "../support/judge.ts";

let gateway: Running;
let ready: { readonly baseUrl: string; readonly keys: Readonly<Record<string, string>> };
beforeAll(async () => {
  gateway = startGauntlet(["gateway"]);
  ready = JSON.parse(await gateway.printed("\n"));
});
afterAll(() => gateway[Symbol.asyncDispose]());
afterEach(() => void vi.unstubAllEnvs());

/** Answers `gauntlet init` at a pseudo-terminal: types each text when its question has appeared. */
async function initAtTerminal(cwd: string, typed: readonly (readonly [question: string, text: string])[]) {
  const child = spawn("script", ["-qec", `'${process.execPath}' '${MAIN}' init`, "/dev/null"], {
    cwd,
    env: { ...process.env, CI: "", NO_COLOR: "1", TERM: "xterm" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const left = [...typed];
  let shown = "";
  child.stdout.on("data", (bytes: Buffer) => {
    shown += bytes.toString("utf8");
    const [next] = left;
    if (next === undefined || !shown.includes(next[0])) return;
    left.shift();
    shown = "";
    child.stdin.write(next[1]);
  });
  const [code] = await ended;
  return { code, shown };
}

describe("init", () => {
  test("the GitHub workflow keeps the runs of the repository's default branch", async () => {
    using folder = temporaryFolder();
    const git = (...args: string[]) => spawnSync("git", args, { cwd: folder.path });
    git("init", "--initial-branch", "trunk");
    const { stdout } = await gauntlet(["init", "--yes", "--ci", "github"], {}, folder.path);
    const workflow = readFileSync(join(folder.path, ".github/workflows/gauntlet.yaml"), "utf8");
    expect(parse(workflow).on.push).toEqual({ branches: ["trunk"] });
    expect(stdout).toContain("each push to trunk as the base");
    git(
      "update-ref",
      "refs/remotes/origin/stable",
      git("hash-object", "-tw", "tree", "/dev/null").stdout.toString().trim(),
    );
    git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/stable");
    await gauntlet(["init", "--yes", "--force", "--ci", "github"], {}, folder.path);
    const again = readFileSync(join(folder.path, ".github/workflows/gauntlet.yaml"), "utf8");
    expect(parse(again).on.push).toEqual({ branches: ["stable"] });
  });

  test.skipIf(process.platform !== "linux")("asks at a terminal, and once more after a wrong answer", async () => {
    using folder = temporaryFolder();
    const { code, shown } = await initAtTerminal(folder.path, [
      ["Base URL", "nowhere\r"],
      ["must be an http", "\u0015https://gw.example.test/v1\r"],
      ["A model for chat", "echo-fast\r"],
      ["Name in reports", "\r"],
      ["A model for messages", "\r"],
      ["Limits", "0:256\r"],
      ["numbers above 0", "\u00156000:256\r"],
    ]);
    expect(shown).toContain("wrote gauntlet.yaml");
    expect(code).toBe(0);
    expect(parse(readFileSync(join(folder.path, "gauntlet.yaml"), "utf8"))).toMatchObject({
      baseUrl: "https://gw.example.test/v1",
      name: "gw.example.test",
      models: { chat: "echo-fast" },
      limits: { rpm: 6000, inFlight: 256 },
    });
  });

  test.skipIf(process.platform !== "linux")("Ctrl-C at a question writes nothing", async () => {
    using folder = temporaryFolder();
    const { code } = await initAtTerminal(folder.path, [["Base URL", "\u0003"]]);
    expect(code).toBe(130);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test("without a terminal, options and defaults are used, and the whole path works", async () => {
    using folder = temporaryFolder();
    const options = ["--base-url", ready.baseUrl, "--model", "echo-fast", "--limits", "6000:256", "--ci", "gitlab"];
    const made = await gauntlet(["init", "--yes", ...options], {}, folder.path);
    expect(made.code).toBe(0);
    expect(readdirSync(folder.path).sort()).toEqual([
      ".env.example",
      ".gitignore",
      "gauntlet-policy.yaml",
      "gauntlet.gitlab-ci.yaml",
      "gauntlet.yaml",
    ]);
    const target = parse(readFileSync(join(folder.path, "gauntlet.yaml"), "utf8"));
    const schema = JSON.parse(readFileSync(join(ROOT, "schemas", "target.schema.json"), "utf8"));
    expect(new Ajv2020({ strict: false }).validate(schema, target)).toBe(true);
    expect(target).toMatchObject({ baseUrl: ready.baseUrl, limits: { rpm: 6000, inFlight: 256 } });
    const environment = { GW_KEY: ready.keys["valid"] ?? "" };
    expect((await gauntlet(["doctor"], environment, folder.path)).code).toBe(0);
    const run = await gauntlet(
      ["conform", "models", "--target", "gauntlet.yaml", "--policy", "gauntlet-policy.yaml", "--out", "r"],
      environment,
      folder.path,
    );
    expect(run.stdout).toContain("PASS");
    expect(run.code).toBe(0);
  });

  test("what the gateway shows replaces the template of models, and is named", async () => {
    using folder = temporaryFolder();
    const { stdout } = await gauntlet(
      ["init", "-y", "--base-url", ready.baseUrl],
      { GW_KEY: ready.keys["valid"] ?? "" },
      folder.path,
    );
    expect(stdout).toMatch(/^read from the gateway: models/m);
    expect(stdout).not.toContain("doctor --propose");
    const text = readFileSync(join(folder.path, "gauntlet.yaml"), "utf8");
    expect(text.match(/^#? ?models:/gm)).toEqual(["models:"]);
    expect(text).not.toContain("# chat: my-model");
  });

  test("a key that the gateway rejects is named", async () => {
    using folder = temporaryFolder();
    const { stdout } = await gauntlet(
      ["init", "-y", "--base-url", ready.baseUrl],
      { GW_KEY: "gk-unknown" },
      folder.path,
    );
    expect(stdout).toMatch(/^the gateway served no request with GW_KEY; the last one got 401 invalid_api_key$/m);
  });

  test("a workflow is written where GitHub reads it, and the suggested commands work here", async () => {
    using folder = temporaryFolder();
    const outside = await gauntlet(["init", "-y"], {}, folder.path);
    expect(outside.stdout).toContain("baseUrl in gauntlet.yaml is a placeholder: replace http://127.0.0.1:8080/v1");
    expect(outside.stdout).toContain("wrote .github/workflows/gauntlet.yaml\n");
    expect(existsSync(join(folder.path, ".github/workflows/gauntlet.yaml"))).toBe(true);
    expect(outside.stdout).toMatch(/^ {2}gauntlet doctor /m);
    mkdirSync(join(folder.path, "node_modules/.bin"), { recursive: true });
    writeFileSync(join(folder.path, "node_modules/.bin/gauntlet"), "");
    const installed = await gauntlet(["init", "-y", "--force"], {}, folder.path);
    expect(installed.stdout).toMatch(/^ {2}\.\/node_modules\/\.bin\/gauntlet doctor /m);
  });

  test.each([
    [
      "none",
      undefined,
      ".env\nnode_modules/\ngauntlet-runs/\ngauntlet-run/\ngauntlet-history.db*\n",
      "added .env, node_modules/, gauntlet-runs/, gauntlet-run/, gauntlet-history.db* to .gitignore",
    ],
    [
      "one without a line end",
      "node_modules\n/gauntlet-runs",
      "node_modules\n/gauntlet-runs\n.env\ngauntlet-run/\ngauntlet-history.db*\n",
      "added .env, gauntlet-run/, gauntlet-history.db* to .gitignore",
    ],
    [
      "one with all lines",
      ".env\r\nnode_modules\r\ngauntlet-runs\r\ngauntlet-run/\r\ngauntlet-history.db*\r\n",
      undefined,
      undefined,
    ],
  ])("keys and run folders are added to .gitignore, where there is %s", async (_what, before, after, says) => {
    using folder = temporaryFolder();
    const path = join(folder.path, ".gitignore");
    if (before !== undefined) writeFileSync(path, before);
    const { stdout } = await gauntlet(["init", "-y"], {}, folder.path);
    expect(readFileSync(path, "utf8")).toBe(after ?? before);
    expect(stdout.split("\n").find((line) => line.startsWith("added"))).toBe(says);
    await gauntlet(["init", "-y", "--force"], {}, folder.path);
    expect(readFileSync(path, "utf8")).toBe(after ?? before);
  });

  describe("lists what CI still needs", () => {
    const printed = async (ci: string, manifest?: object, ...more: readonly string[]) => {
      using folder = temporaryFolder();
      if (manifest !== undefined) writeFileSync(join(folder.path, "package.json"), JSON.stringify(manifest));
      const { stdout } = await gauntlet(["init", "-y", "--ci", ci, ...more], {}, folder.path);
      return stdout.split("Before CI can run the job:\n")[1]?.split("\n").filter(Boolean) ?? [];
    };

    test("GitHub: the secret, and the files to commit with the tarball that is installed", async () => {
      const manifest = { devDependencies: { "gateway-gauntlet": "file:tools/gateway-gauntlet-0.1.0.tgz" } };
      expect(await printed("github", manifest)).toEqual([
        "  - Add the secret GW_KEY to the repository: Settings, Secrets and variables, Actions.",
        "  - The workflow stores the run of each push to main as the base for comparisons. If your default branch has a different name, change the branch in the workflow.",
        "  - Set baseUrl in gauntlet.yaml to the address of your gateway. If the job itself must start the gateway, add that step.",
        "  - With one key only, the job ends with exit code 4: the checks that need other keys or models are blocked. Add them to gauntlet.yaml, or run: gauntlet init --accept-gaps",
        "  - Commit gauntlet.yaml, .env.example, gauntlet-policy.yaml, .github/workflows/gauntlet.yaml, .gitignore, package.json, package-lock.json and tools/gateway-gauntlet-0.1.0.tgz.",
      ]);
    });

    test.each([
      ["without package.json", undefined],
      ["with another package", { dependencies: { zod: "4.6.7" } }],
      ["with a folder instead of the tarball", { dependencies: { "gateway-gauntlet": "file:../gauntlet" } }],
    ])("%s, first of all the installation from a tarball", async (_what, manifest) => {
      const steps = await printed("github", manifest);
      expect(steps[0]).toContain("npm install --save-dev ./tools/gateway-gauntlet-*.tgz");
      expect(steps.at(-1)).toMatch(/^ {2}- Commit .* and the tarball\.$/);
    });

    test("the gateway itself, if it is on the machine that runs the job", async () => {
      const start = "Start the gateway in the job";
      expect((await printed("github", undefined, "--base-url", "http://localhost:4000/v1")).join("\n")).toContain(
        start,
      );
      expect((await printed("github", undefined, "--base-url", "https://gw.example/v1")).join("\n")).not.toContain(
        start,
      );
    });

    test("GitLab and Jenkins: where the key and the file go", async () => {
      const gitlab = (await printed("gitlab")).join("\n");
      expect(gitlab).toMatch(/GW_KEY[\s\S]*GAUNTLET_TOKEN[\s\S]*include: gauntlet\.gitlab-ci\.yaml[\s\S]*Commit /);
      const jenkins = (await printed("jenkins")).join("\n");
      expect(jenkins).toMatch(
        /gateway-key[\s\S]*script path gauntlet\.Jenkinsfile[\s\S]*Commit .*gauntlet\.Jenkinsfile/,
      );
      expect(await printed("none")).toEqual([]);
    });
  });

  test("input cannot break out of the file, invalid input is rejected, and nothing is overwritten", async () => {
    using folder = temporaryFolder();
    const name = 'a: "b"\n# c\nkeys: x';
    expect((await gauntlet(["init", "-y", "--name", name], {}, folder.path)).code).toBe(0);
    expect(parse(readFileSync(join(folder.path, "gauntlet.yaml"), "utf8"))).toMatchObject({ name });
    const again = await gauntlet(["init", "-y"], {}, folder.path);
    expect(again.stderr).toMatch(/gauntlet\.yaml.* already exist[\s\S]*--force/);
    expect(again.code).toBe(2);
    // The job of the other host is added without touching the edited files.
    expect((await gauntlet(["init", "-y", "--ci", "gitlab"], {}, folder.path)).stderr).toContain("--ci-only");
    const added = await gauntlet(["init", "--ci", "gitlab", "--ci-only"], {}, folder.path);
    expect(added.stdout).toMatch(
      /^wrote gauntlet\.gitlab-ci\.yaml\n[\s\S]*Commit gauntlet\.gitlab-ci\.yaml, package\.json/,
    );
    expect([added.code, existsSync(join(folder.path, "gauntlet.gitlab-ci.yaml"))]).toEqual([0, true]);
    expect(added.stdout).toContain("Start the gateway in the job");
    const twice = await gauntlet(["init", "--ci", "gitlab", "--ci-only"], {}, folder.path);
    expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining("gauntlet.gitlab-ci.yaml already exists")]);
    const wrong = await gauntlet(["init", "-y", "--force", "--base-url", "nowhere"], {}, folder.path);
    expect(wrong.stderr).toMatch(/baseUrl.*must be an http/);
    expect(wrong.code).toBe(2);
    expect(parse(readFileSync(join(folder.path, "gauntlet.yaml"), "utf8"))).toMatchObject({ name });
  });
});

test("a CI job alone needs a target file", async () => {
  using folder = temporaryFolder();
  const { code, stderr } = await gauntlet(["init", "--ci-only"], {}, folder.path);
  expect([code, stderr]).toEqual([2, expect.stringContaining("there is no gauntlet.yaml")]);
});

describe("doctor", () => {
  const look = async (lines: string, environment: Record<string, string>, ...more: string[]) => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "gauntlet.yaml"), `baseUrl: ${ready.baseUrl}\n${lines}`);
    return await gauntlet(["doctor", ...more], environment, folder.path);
  };

  test("names the keys that are not in their state, a wrong limit, and the lines for checks that cannot run", async () => {
    const { keys } = ready;
    const { stdout, code } = await look(
      "keys: { valid: env:V, revoked: env:W, capped: env:C, second: env:S }\nmodels: { chat: echo-fast }\nlimits: starter\n",
      { V: keys["valid"] ?? "", W: keys["second"] ?? "", C: keys["capped"] ?? "", S: keys["revoked"] ?? "" },
      "--json",
    );
    const { symptoms, exitCode } = JSON.parse(stdout);
    const of = (about: string) => symptoms.find((symptom: { about: string }) => symptom.about === about);
    expect(of("key valid")).toMatchObject({ level: "good" });
    expect(of("key revoked")).toMatchObject({ level: "bad", next: expect.stringContaining("denied as key_revoked") });
    expect(of("key capped")).toMatchObject({ level: "good", text: "denied: 402 quota_exceeded" });
    expect(of("key second")).toMatchObject({ level: "bad", text: expect.stringContaining("key_revoked") });
    expect(of("clock")).toMatchObject({ level: "good" });
    const counts = /^(\d+) of (\d+) check instances \(about [\d,]+ requests, at least \d+ s\); (\d+) do not apply$/;
    const [runnable = 0, all, skipped = 0] = counts.exec(of("can run").text)?.slice(1).map(Number) ?? [];
    expect(runnable + skipped + Number.parseInt(of("cannot run").text, 10)).toBe(all);
    // `conform` does not select these suites without their sections.
    expect(of("not selected").text).toContain(
      "upstream (needs `upstream:`), ledger (needs `ledger:`), replicas (needs `addresses:`), token-limits (needs `tokenLimits:`)",
    );
    expect(of("cannot run").next).toContain("empty: env:GW_EMPTY");
    expect(exitCode).toBe(2);
    expect(code).toBe(2);
    for (const key of Object.values(keys)) expect(stdout).not.toContain(key);
  });

  describe("describes an obstacle with the gateway's own message", () => {
    interface Said {
      readonly about: string;
      readonly level: string;
      readonly text: string;
      readonly next?: string;
    }

    /** The messages about a gateway, with and without a terminal's reader; the key is the reference gateway's. */
    async function expectTarget(baseUrl: string, more = "") {
      using folder = temporaryFolder();
      writeFileSync(join(folder.path, "gauntlet.yaml"), `baseUrl: ${baseUrl}\nkeys: { valid: env:V }\n${more}`);
      vi.stubEnv("V", ready.keys["valid"]);
      const { doctor } = await import("../../src/commands/doctor/run.ts");
      const { symptomText } = await import("../../src/commands/doctor/symptom.ts");
      const shown: string[] = [];
      const { code, document, text } = await inProcess(({ onProgress }) =>
        doctor(join(folder.path, "gauntlet.yaml"), {
          onProgress,
          onSymptom: (symptom) => void shown.push(symptomText(symptom, PLAIN)),
        }),
      );
      const { symptoms } = document as { readonly symptoms: readonly Said[] };
      return {
        plain: shown.join("") + text,
        code,
        of: (about: string) => symptoms.find((said) => said.about === about),
      };
    }

    test("and names extraHeaders if the message requires a header; with it, everything is ready to run", async () => {
      // Behaves like Portkey's gateway, and forwards requests that have the header.
      await using server = await httpServer(async ({ headers, method, url = "" }, body, response) => {
        if (headers["x-portkey-provider"] === undefined) {
          const message = "Either x-portkey-config or x-portkey-provider header is required";
          response.writeHead(400, { "content-type": "application/json" });
          response.end(JSON.stringify({ status: "failure", message }));
          return;
        }
        const relayed = await fetch(new URL(ready.baseUrl).origin + url, {
          method: method ?? "GET",
          headers: { authorization: headers.authorization ?? "", "content-type": "application/json" },
          ...(body === "" ? {} : { body }),
        });
        response.writeHead(relayed.status, { "content-type": "application/json" }).end(await relayed.text());
      });
      const without = await expectTarget(server.baseUrl);
      for (const about of ["gateway", "key valid", "messages dialect"]) {
        expect(without.of(about)).toMatchObject({
          level: "bad",
          text: expect.stringContaining('400: "Either x-portkey-config or x-portkey-provider header is required"'),
          next: expect.stringMatching(/extraHeaders: \{ all: \{ x-portkey-config: … \} \} # or x-portkey-provider$/),
        });
      }
      const [, page = "", heading = ""] = /\((docs\/[\w.-]+), "(.*)"\)/.exec(without.of("gateway")?.next ?? "") ?? [];
      expect(readFileSync(join(ROOT, page), "utf8")).toContain(`## ${heading}\n`);
      // One header is missing: one problem, and its solution is shown once.
      expect(without.plain.match(/extraHeaders:/g)).toHaveLength(1);
      expect(without.plain).toContain("1 problem to fix before running: ");
      expect(without.code).toBe(2);
      const sent = await expectTarget(server.baseUrl, "extraHeaders: { all: { x-portkey-provider: openai } }\n");
      expect(sent.plain).toContain("Ready to run");
      expect(sent.code).toBe(0);
    });

    test.each<[what: string, status: number, body: (key: string) => string, says: string]>([
      [
        "control and direction characters",
        400,
        () => '{"message":"no\\u001b[31m \\u202eway\\n"}',
        '400: "no [31m way"',
      ],
      ["a page of text", 400, () => JSON.stringify({ error: { message: "ab ".repeat(9_000) } }), "ab ab…"],
      ["a key", 403, (key) => JSON.stringify({ detail: `no such key: ${key}` }), '403: "no such key: [key.valid'],
      ["plain text", 500, () => "upstream is gone\n", '500: "upstream is gone"'],
      ["an HTML page is not repeated", 500, () => "<html>upstream is gone</html>", "500"],
    ])("%s", async (_what, status, body, says) => {
      const key = ready.keys["valid"] ?? "";
      await using server = await httpServer((_request, _body, response) => response.writeHead(status).end(body(key)));
      const { plain, of } = await expectTarget(server.baseUrl);
      const text = of("key valid")?.text ?? "";
      if (says === "500") expect(text).toBe("500");
      else expect(text).toContain(says);
      expect(text.length).toBeLessThan(300);
      expect(plain).not.toContain(key);
      expect(plain).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
    });

    test("a wrong key is one problem, and a model that does not exist is not a problem with the key", async () => {
      const wrong = await expectTarget(ready.baseUrl, "models: { chat: echo-fsat }\n");
      expect(wrong.of("key valid")).toMatchObject({
        level: "bad",
        text: expect.stringContaining("model_not_found"),
        next: 'models.chat is "echo-fsat". Did you mean "echo-fast"?',
      });
      expect(wrong.of("messages dialect")).toMatchObject({ level: "note", text: expect.stringContaining("not tried") });
      expect(wrong.plain).toContain("1 problem to fix before running: ");
      expect(wrong.code).toBe(2);

      using folder = temporaryFolder();
      writeFileSync(join(folder.path, "gauntlet.yaml"), `baseUrl: ${ready.baseUrl}\nkeys: { valid: env:V }\n`);
      const { stdout, code } = await gauntlet(["doctor"], { V: "sk-of-nobody-1234" }, folder.path);
      expect(stdout.match(/^✗ .*401 invalid_api_key/gm)).toHaveLength(3);
      expect(stdout.match(/keys\.valid/g)).toHaveLength(1);
      expect(stdout).toContain("\n1 problem to fix before running: ");
      expect(code).toBe(2);
    });

    test("a failing list only matters for a target file without models", async () => {
      await using server = await httpServer((_request, _body, response) =>
        response.writeHead(500).end('{"error":"boom"}'),
      );
      const nameless = await expectTarget(server.baseUrl);
      expect(nameless.of("gateway")).toMatchObject({
        level: "bad",
        text: 'the model list is not served (500: "boom")',
      });
      expect(nameless.of("key valid")?.next).toContain("chat: <model id>");
      const named = await expectTarget(server.baseUrl, "models: { chat: mine }\n");
      expect(named.of("gateway")).toMatchObject({ level: "note" });
      expect(named.of("key valid")).toMatchObject({ text: '500: "boom"', next: expect.stringContaining("its log") });
      // Without a model, the target file lacks one; with it, only the gateway is at fault.
      expect([nameless.code, named.code]).toEqual([2, 4]);
    });
  });

  test("if nothing responds, says why, with exit code 3", async () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "t.yaml"), "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:K }\n");
    const { stderr, code } = await gauntlet(["doctor", "--target", "t.yaml"], { K: "sk-12345678" }, folder.path);
    expect(stderr).toMatch(/connection refused, no server listens on this port[\s\S]*Start the gateway/);
    expect(code).toBe(3);
  });
});

test("--version --json says everything that decides what a run means, as records do", async () => {
  using folder = temporaryFolder();
  const { stdout } = await gauntlet(["--version", "--json"]);
  const version = JSON.parse(stdout);
  expect(version).toMatchObject({ name: "gateway-gauntlet", recordVersion: 1, requirementSet: { version: "1" } });
  await gauntlet(["conform", "--target", "embedded", "models", "--out", "r"], {}, folder.path);
  const { requirementSet, harness } = JSON.parse(readFileSync(join(folder.path, "r", "run.json"), "utf8"));
  expect(requirementSet).toEqual(version.requirementSet);
  expect(harness.version).toBe(version.version);
});

async function completionsOf(words: readonly string[], cwd?: string): Promise<string[]> {
  const done = await gauntlet(["--get-yargs-completions", ...words], { SHELL: "/bin/bash" }, cwd);
  expect([done.code, done.stderr]).toEqual([0, ""]);
  return done.stdout.split("\n").filter((line) => line !== "");
}

describe("completion", () => {
  test.each([
    ["commands", ["gauntlet", "conf"], "conform"],
    ["suites", ["gauntlet", "conform", "ret"], "retry-after"],
    ["checks", ["gauntlet", "explain", "auth.unk"], "auth.unknown-key"],
    ["scenarios", ["gauntlet", "client", "--scenario", "rate-s"], "rate-seconds"],
    ["options", ["gauntlet", "conform", "--wai"], "--waivers"],
    ["tiers", ["gauntlet", "load", "st"], "starter"],
    ["built-in workloads", ["gauntlet", "size", ""], "peak"],
    ["mutations", ["gauntlet", "conform", "--mutation", "auth.mess"], "auth.messages-with-any-key"],
    ["variants", ["gauntlet", "gateway", "--variant", ""], "latency.two-seconds"],
    ["the embedded gateway", ["gauntlet", "run", "--target", "emb"], "embedded"],
    ["engines", ["gauntlet", "load", "w.yaml", "--engine", ""], "autocannon"],
    ["checks after --only", ["gauntlet", "conform", "--only", "auth.unk"], "auth.unknown-key"],
    ["checks after --only of run", ["gauntlet", "run", "--json", "--only", "auth.unk"], "auth.unknown-key"],
    ["requirements after --only", ["gauntlet", "conform", "--only", "AUTH-"], "AUTH-3"],
  ])("knows %s", async (_what, words, found) => {
    expect(await completionsOf(words)).toContain(found);
  });

  test("knows the checks of an own suite, and omits what does not fit", async () => {
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, "node_modules"));
    symlinkSync(ROOT, join(folder.path, "node_modules", "gateway-gauntlet"), "dir");
    copyFileSync(join(ROOT, "docs", "examples", "own-suite.ts"), join(folder.path, "own.ts"));
    const own = ["gauntlet", "conform", "--suite", "own.ts"];
    expect(await completionsOf([...own, "--only", ""], folder.path)).toContain("acme.temperature");
    expect(await completionsOf([...own, ""], folder.path)).toContain("acme");
    const ofSuite = await completionsOf(["gauntlet", "conform", "auth", "--only", ""]);
    expect(ofSuite).toContain("auth.unknown-key");
    expect(ofSuite).not.toContain("chat.minimal");
    expect(await completionsOf(["gauntlet", "conform", "auth", ""])).not.toContain("auth");
    expect(await completionsOf(["gauntlet", "load", ""], folder.path)).not.toContain("own.ts");
    writeFileSync(join(folder.path, "mine.yaml"), "");
    expect(await completionsOf(["gauntlet", "load", ""], folder.path)).toContain("mine.yaml");
    // The shell completes files.
    expect(await completionsOf(["gauntlet", "conform", "--target", ""])).toEqual([]);
  });

  test("the bash script completes in a real bash; all three are printed", async () => {
    using folder = temporaryFolder();
    const script = (await gauntlet(["completion", "bash"])).stdout;
    writeFileSync(join(folder.path, "c.bash"), script);
    const program = `gauntlet() { "${process.execPath}" "${MAIN}" "$@"; }; . ./c.bash; COMP_WORDS=(gauntlet conform str); COMP_CWORD=2; _gauntlet; printf '%s' "\${COMPREPLY[@]}"`;
    const done = spawnSync("bash", ["-c", program], {
      cwd: folder.path,
      encoding: "utf8",
      env: { ...process.env, SHELL: "/bin/bash" },
    });
    expect(done.stdout).toBe("streaming");
    for (const shell of ["zsh", "fish"]) expect((await gauntlet(["completion", shell])).stdout).toContain("gauntlet");
    expect((await gauntlet(["completion", "tcsh"])).code).toBe(2);
    expect(existsSync(join(folder.path, "c.bash"))).toBe(true);
  });
});
