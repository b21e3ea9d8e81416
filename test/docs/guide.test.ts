import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parseTarget } from "../../src/target/index.ts";
import { MAIN, temporaryFolder } from "../support/gauntlet.ts";

const docs = new URL("../../docs/", import.meta.url);

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
    // Into a file: a gateway that a block leaves running would keep a pipe open.
    const output = join(folder.path, "output.txt");
    const file = openSync(output, "w");
    const done = spawnSync("bash", ["-euc", script], {
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

test.each(["litellm", "portkey"])("examples/%s/gauntlet.yaml is a target file that loads", (name) => {
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
});
