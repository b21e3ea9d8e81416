// real-time: restarts a gateway while load is sent.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findWorkload } from "../../src/run/open/index.ts";
import { parseTarget } from "../../src/target/index.ts";
import { MAIN, temporaryFolder } from "../support/gauntlet.ts";

const page = readFileSync(new URL("../../docs/disturbance.md", import.meta.url), "utf8");
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(([, text = ""]) => text);

test("the first part of docs/disturbance.md leads to a verdict about a restart", () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "bin"));
  const write = (name: string, text: string) => {
    writeFileSync(join(folder.path, name), text);
    chmodSync(join(folder.path, name), 0o755);
  };
  write("bin/gauntlet", `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  const [start = "", restart = "", setUp = "", run = ""] = blocks("sh");
  const [disturb = ""] = blocks("yaml");
  const port = 20_000 + (process.pid % 10_000);
  const here = (text: string) => text.replaceAll("8786", `${port}`);
  write("start.sh", here(start));
  write("restart.sh", restart);
  write("keys.json", /`(\{"valid": .*?\})`/.exec(page)?.[1] ?? "");
  const script = `trap 'kill $(cat gateway.pid) 2> /dev/null || true' EXIT
${here(setUp)}
cat >> gauntlet.yaml <<'END'
${disturb}END
set +e
${run.replace(/load rolling-restart$/m, "load rolling-restart --out out")}
echo "exit $?"`;
  const done = spawnSync("bash", ["-euc", script], {
    cwd: folder.path,
    env: { ...process.env, CI: "", PATH: `${join(folder.path, "bin")}:${process.env["PATH"]}` },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(done.stdout, done.stderr).toContain("event restart at 20.0 s: run ./restart.sh");
  expect(done.stdout).toMatch(/event\.restart\.failed: \d+ of \d+ requests failed/);
  expect(done.stdout).toMatch(/✓ event\.restart\.truncated-streams: 0 of \d+ streams truncated without an error event/);
  expect(done.stdout).toContain("exit 1\n");
}, 240_000);

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
