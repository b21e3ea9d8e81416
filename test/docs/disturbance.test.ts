// real-time: restarts a gateway while load is sent.
import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findWorkload } from "../../src/run/open/index.ts";
import { parseTarget } from "../../src/target/index.ts";
import { MAIN, temporaryFolder } from "../support/gauntlet.ts";

const page = readFileSync(new URL("../../docs/disturbance.md", import.meta.url), "utf8");
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(([, text = ""]) => text);

test("the first two parts of docs/disturbance.md lead to a FAIL for one process and a PASS for two", () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "bin"));
  const port = 20_000 + 3 * (process.pid % 4_000);
  const here = (text: string) =>
    text
      .replaceAll("8786", `${port}`)
      .replaceAll("8787", `${port + 1}`)
      .replaceAll("8788", `${port + 2}`);
  const write = (name: string, text: string) => {
    writeFileSync(join(folder.path, name), here(text));
    chmodSync(join(folder.path, name), 0o755);
  };
  write("bin/gauntlet", `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  const [start = "", restart = "", setUp = "", one = "", two = "", stop = ""] = blocks("sh");
  const [disturb = ""] = blocks("yaml");
  write("start.sh", start);
  write("restart.sh", restart);
  write("balancer.mjs", blocks("js")[0] ?? "");
  write("keys.json", blocks("json")[0] ?? "");
  const outOf = (text: string, out: string) =>
    text.replace(/load rolling-restart$/m, `load rolling-restart --out ${out}`);
  const script = here(`trap 'kill $(cat *.pid) 2> /dev/null || true' EXIT
${setUp}
cat >> gauntlet.yaml <<'END'
${disturb}END
set +e
${outOf(one, "one")}
echo "one process: exit $?"
${outOf(two, "two")}
echo "two processes: exit $?"
${stop}
echo "stopped: exit $?"`);
  // Into a file: the processes that keep running would keep a pipe open.
  const output = join(folder.path, "output.txt");
  const file = openSync(output, "w");
  spawnSync("bash", ["-euc", script], {
    cwd: folder.path,
    env: { ...process.env, CI: "", PATH: `${join(folder.path, "bin")}:${process.env["PATH"]}` },
    stdio: ["ignore", file, file],
  });
  closeSync(file);
  const [first = "", second = "", last = ""] = readFileSync(output, "utf8").split(/(?<=processe?s?: exit \d+)\n/);
  expect(first).toContain(here("event restart at 20.0 s: run ./restart.sh 8786"));
  expect(first).toMatch(/event\.restart\.failed: \d+ of \d+ requests failed/);
  expect(first).toMatch(/✓ event\.restart\.truncated-streams: 0 of \d+ streams truncated without an error event/);
  expect(first).toContain("one process: exit 1");
  expect(second).toContain(here("event restart at 20.0 s: run ./restart.sh 8786 8787"));
  expect(second).toMatch(/✓ event\.restart\.failed: 0 of \d+ requests failed/);
  expect(second).toMatch(/✓ event\.restart\.truncated-streams: 0 of \d+ streams truncated without an error event/);
  // On a machine that is too busy, only what depends on timing may be open.
  const open = [...second.matchAll(/^ +\? (.*)/gm)].map(([, text = ""]) => text);
  expect(open.filter((text) => !/too busy|^other processes used|^sends were late/.test(text))).toEqual([]);
  expect(second).toContain(`two processes: exit ${open.length === 0 ? 0 : 4}\n`.trimEnd());
  expect(last).toContain("stopped: exit 0");
}, 420_000);

test("the table lists every shipped workload with events, and the actions that it needs", () => {
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| (`.*?`) \|/gm)].map(([, name = "", actions = ""]) => [
    name,
    [...actions.matchAll(/`(\w+)`/g)].map(([, action]) => action),
  ]);
  expect(rows.map(([name]) => name)).toHaveLength(8);
  for (const [name, actions] of rows) {
    const { events = [] } = findWorkload(name as string);
    const needed = events
      .flatMap(({ action, after }) => [action, after])
      .map((one) => one?.kind === "named" && one.name);
    expect([name, needed.filter(Boolean)]).toEqual([name, actions]);
  }
});

test("the parts of a target file in docs/disturbance.md are valid", () => {
  const targets = blocks("yaml").map((yaml) => {
    const address = yaml.startsWith("addresses:") ? "" : "baseUrl: http://127.0.0.1:1/v1\n";
    return parseTarget(`${address}keys: { valid: env:K }\n${yaml}`, "t.yaml", { K: "sk-012345" });
  });
  expect(targets.length).toBeGreaterThan(2);
  expect(targets.every(({ addresses, disturb }) => addresses !== undefined || Object.keys(disturb).length > 0)).toBe(
    true,
  );
});
