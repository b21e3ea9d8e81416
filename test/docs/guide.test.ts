// real-time: checks fill the limits of a minute and wait for Retry-After
import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { quickstartSteps } from "../../scripts/verify/quickstart/steps.ts";
import { parseTarget } from "../../src/target/index.ts";
import { MAIN, gauntlet as play, temporaryFolder } from "../support/gauntlet.ts";

const docs = new URL("../../docs/", import.meta.url);
const PROGRAM = "./node_modules/.bin/gauntlet";

describe("the blocks of the guide that are marked to run", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder.path, "bin"));
  const gauntlet = join(folder.path, "bin", "gauntlet");
  writeFileSync(gauntlet, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(gauntlet, 0o755);
  afterAll(() => folder[Symbol.dispose]());
  const guide = readFileSync(new URL("guide.md", docs), "utf8");
  const blocks = [...guide.matchAll(/<!-- run(?:: exit (\d+))? -->\n\n```sh\n([\s\S]*?)```/g)].map(
    ([, exit = "0", script = ""]) => ({ exit: Number(exit), script }),
  );

  test.each(blocks)("exit $exit: $script", ({ exit, script }) => {
    // What a first attempt of this test may have left.
    for (const [, out = ""] of script.matchAll(/--out (\S+)/g))
      rmSync(join(folder.path, out), { recursive: true, force: true });
    // Into a file: a gateway that a block leaves running would keep a pipe open.
    const output = join(folder.path, "output.txt");
    const file = openSync(output, "w");
    // Variables that a block sets are available in the next one, as in a reader's shell.
    const kept = "trap 'export -p > variables.sh' EXIT\n[ ! -e variables.sh ] || . ./variables.sh\n";
    const done = spawnSync("bash", ["-euc", `${kept}${script}`], {
      cwd: folder.path,
      env: { ...process.env, NO_COLOR: "1", PATH: `${join(folder.path, "bin")}:${process.env["PATH"]}` },
      stdio: ["ignore", file, file],
    });
    closeSync(file);
    expect(done.status, readFileSync(output, "utf8")).toBe(exit);
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
