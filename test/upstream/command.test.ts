// real-time: ends processes at a moment of their work
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scenarioSchema } from "../../src/upstream/index.ts";
import { gauntlet, MAIN, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";

const page = readFileSync(new URL("../../docs/upstream.md", import.meta.url), "utf8");
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(([, text = ""]) => text);

test("the commands of docs/upstream.md work one after the other", () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "bin"));
  const program = join(folder.path, "bin", "gauntlet");
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(program, 0o755);
  // On free ports, and as soon as it is ready.
  const script = blocks("sh")
    .join("")
    .replace("--port 9100 --control-port 9101", "")
    .replace("sleep 1", "while ! grep -qs ready ready.json; do sleep 0.1; done")
    .replace(/(\w+\.json) & sleep 2/g, "$1 & while ! grep -qs ready $1; do sleep 0.1; done")
    .replace(
      "http://127.0.0.1:9100/upstream/v1",
      "$(node -p 'JSON.parse(fs.readFileSync(\"ready.json\")).providers.upstream')",
    )
    .replace("http://127.0.0.1:9101", "$(node -p 'JSON.parse(fs.readFileSync(\"ready.json\")).controlUrl')");
  const done = spawnSync("bash", ["-euc", `trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n${script}`], {
    cwd: folder.path,
    env: { ...process.env, PATH: `${join(folder.path, "bin")}:${process.env["PATH"]}` },
    encoding: "utf8",
    // A shell whose input is a socket assumes a network session, and reads the machine's start-up files.
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(done.stderr.split("\n").filter((line) => !line.startsWith("gauntlet: "))).toEqual([""]);
  expect(done.stdout).toContain('"object":"chat.completion"');
  expect(done.stdout).toContain('"marker":"gauntlet-marker-1","attempt":1');
  expect(done.stdout).toMatch(/PASS: .*\n135 pass, 12 not-applicable in/);
});

test("the scenario of docs/upstream.md is one, and its table has every field", async () => {
  using folder = temporaryFolder();
  const [yaml = ""] = blocks("yaml");
  writeFileSync(join(folder.path, "upstream.yaml"), yaml);
  await using running = startGauntlet(["upstream", "--scenario", "upstream.yaml"], {}, folder.path);
  const { providers } = JSON.parse(await running.printed("\n")) as { providers: Record<string, string> };
  expect(Object.keys(providers)).toEqual(["primary", "secondary"]);
  const post = async (model: string) =>
    (await fetch(`${providers["primary"]}/messages`, { method: "POST", body: JSON.stringify({ model }) })).status;
  expect([await post("fast"), await post("flaky"), await post("flaky"), await post("none")]).toEqual([
    200, 529, 200, 404,
  ]);
  running.child.kill("SIGTERM");
  expect((await running.finished).code).toBe(0);

  const table = /\| field \| default \| meaning \|\n\|[-|]+\|\n((?:\|.*\n)+)/.exec(page)?.[1] ?? "";
  const named = table
    .split("\n")
    .flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect(named.sort()).toEqual(fieldsOfBehaviour().sort());
});

/** Every field of a behaviour; those with defaults are filled in. */
function fieldsOfBehaviour(): string[] {
  const scenario = scenarioSchema.parse({
    providers: {
      one: {
        models: {
          m: {
            text: "t",
            tool: { name: "t", arguments: {} },
            error: { status: 500 },
            break: { how: "close", at: 1 },
            slowly: { bytes: 1, everyMs: 1 },
          },
        },
      },
    },
  });
  return Object.keys(scenario.providers["one"]?.models["m"] ?? {});
}

test("a scenario file with an error is refused, with its place", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "bad.yaml"), "providers:\n  one:\n    models:\n      m: { latency: 5 }\n");
  const { code, stderr } = await gauntlet(["upstream", "--scenario", "bad.yaml"], {}, folder.path);
  expect(code).toBe(2);
  expect(stderr).toMatch(/bad\.yaml:4/);
  const missing = await gauntlet(["upstream", "--scenario", "none.yaml"], {}, folder.path);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("none.yaml")]);
});

test("--ceiling measures what docs/upstream.md shows", async () => {
  const { code, stdout } = await gauntlet(["upstream", "--ceiling"]);
  const shown = blocks("text")[0] ?? "";
  const pattern = shown
    .trim()
    .replace(/[./()]/g, "\\$&")
    .replaceAll("…", "\\d+");
  expect([code, stdout.trim()]).toEqual([0, expect.stringMatching(new RegExp(`^${pattern}$`))]);
  expect([...stdout.matchAll(/ (\d+)(?:\/s| events| per)/g)].every(([, count]) => Number(count) > 100)).toBe(true);
});

test.each(["--port", "--control-port"])("%s outside the range of ports is a usage error", async (option) => {
  const { code, stderr } = await gauntlet(["upstream", option, "99999"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`${option} takes a whole number from 0 to 65535`)]);
});
