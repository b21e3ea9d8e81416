// real-time: checks fill the limits of a minute and wait for Retry-After
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { quickstartSteps } from "../../scripts/verify/quickstart/steps.ts";
import { parseTarget } from "../../src/target/index.ts";
import { runnableBlocks, startDocsShell } from "../support/docs-shell.ts";
import { gauntlet as play, temporaryFolder } from "../support/gauntlet.ts";

const docs = new URL("../../docs/", import.meta.url);
const PROGRAM = "./node_modules/.bin/gauntlet";

describe("the blocks of the guide that are marked to run", () => {
  const shell = startDocsShell();
  afterAll(() => shell[Symbol.dispose]());
  test.each(runnableBlocks("docs/guide.md"))("exit $exit: $script", ({ exit, script }) => {
    const { code, output } = shell.run(script);
    expect(code, output).toBe(exit);
  });
});

test.each(readdirSync(new URL("examples/", docs)).filter((name) => name.endsWith(".yaml")))(
  "docs/examples/%s is a target file that loads",
  (name) => {
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, "secrets"));
    writeFileSync(join(folder.path, "secrets", "gateway.key"), "sk-from-a-file\n");
    const text = readFileSync(new URL(`examples/${name}`, docs), "utf8");
    const names = [...text.matchAll(/env:(\w+)/g)].map(([, variable = ""]) => variable);
    const environment = Object.fromEntries(names.map((variable) => [variable, `sk-${variable}`]));
    const target = parseTarget(text, join(folder.path, name), environment);
    expect(target.keys.valid.reveal()).toMatch(/^sk-/);
  },
);

describe("the README's block for a new user, which `npm run verify quickstart` runs completely", () => {
  const steps = quickstartSteps();
  const starting = (text: string) => steps.find((step) => step.startsWith(text)) ?? "";

  test("has the gateway in the version that the examples have", () => {
    const version = /@portkey-ai\/gateway@([\d.]+)/.exec(steps.join("\n"))?.[1];
    for (const page of ["real-gateways.md", "../examples/README.md"])
      expect(readFileSync(new URL(page, docs), "utf8")).toContain(`Portkey gateway ${version}`);
  });

  test("makes a target file that loads, and leads doctor, run and report to it", async () => {
    using folder = temporaryFolder();
    expect((await play(starting(`${PROGRAM} init`).split(" ").slice(1), {}, folder.path)).code).toBe(0);
    const file = join(folder.path, "gauntlet.yaml");
    const [, more = ""] = /<<'YAML'\n([\s\S]*\n)YAML$/.exec(starting("cat >> gauntlet.yaml")) ?? [];
    const target = parseTarget(readFileSync(file, "utf8") + more, file, { GW_KEY: "gk-quickstart" });
    const port = /--port (\d+)/.exec(starting(`${PROGRAM} gateway`))?.[1];
    expect(target.extraHeaders.all).toEqual([
      ["x-portkey-provider", "openai"],
      ["x-portkey-custom-host", `http://127.0.0.1:${port}/v1`],
    ]);
    expect(starting(`${PROGRAM} doctor`)).toBe(`${PROGRAM} doctor`);
    expect(starting(`${PROGRAM} conform`)).toContain("--target gauntlet.yaml --out first-run");
  });
});

test.each(["litellm", "portkey", "portkey-with-states"])(
  "examples/%s/gauntlet.yaml is a target file that loads",
  (name) => {
    using folder = temporaryFolder();
    const text = readFileSync(new URL(`../examples/${name}/gauntlet.yaml`, docs), "utf8");
    const references = [...text.matchAll(/(env|file):([\w./-]+)/g)];
    for (const [, kind, place = ""] of references) {
      if (kind !== "file") continue;
      mkdirSync(join(folder.path, dirname(place)), { recursive: true });
      writeFileSync(join(folder.path, place), `sk-${place}\n`);
    }
    const environment = Object.fromEntries(references.map(([, , place = ""]) => [place, `sk-${place}`]));
    expect(parseTarget(text, join(folder.path, "gauntlet.yaml"), environment).name).toBe(name);
  },
);

test("the README shows what its first failing run prints", async () => {
  const readme = readFileSync(new URL("../README.md", docs), "utf8");
  const [, command = "", shown = ""] = /npm start -- (conform .*)\n```\n\n```text\n([\s\S]*?)```/.exec(readme) ?? [];
  using folder = temporaryFolder();
  const { code, stdout } = await play(command.split(" "), {}, folder.path);
  expect(code).toBe(1);
  const printed = stdout.split("\n");
  // In order, one after the other; `…` matches anything.
  let at = 0;
  for (const line of shown.split("\n").filter((text) => text !== "" && text !== "…")) {
    const parts = line.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const pattern = new RegExp(`^${parts.join(".*")}$`);
    const found = printed.findIndex((text, index) => index >= at && pattern.test(text));
    expect(found, `${line}\nis not printed after line ${at} of\n${stdout}`).toBeGreaterThanOrEqual(at);
    at = found + 1;
  }
});
