// real-time: a load that is judged twice on a machine that must not be busy
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../../scripts/docs/generated-files.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

const SUITE = `
import { defineCheck } from "gateway-gauntlet";
export default [defineCheck({
  id: "acme.created",
  title: "A request is served with 201",
  covers: ["BASE-3"],
  explains: "Fails at every gateway.",
  cost: { requests: 1 },
  run: async (t) => ({ r: await t.send() }),
  judge: ({ r }, v) => v.must("BASE-3", r.status, 201, { in: r, at: "status" }),
})];
`;
const WORKLOAD = `
name: steady
arrivals: { kind: constant, ratePerS: 20, durationS: 1 }
thresholds: ["failed > 5"]
`;

/** What decides whether two runs are the same. */
function runIn(folder: string) {
  const { command, seed, target, checks, load } = JSON.parse(readFileSync(join(folder, "run.json"), "utf8"));
  const runs: { name: string; generator: { valid: boolean }; phases: { sent: number }[] }[] = load?.runs ?? [];
  return {
    ...{ command, seed, source: target.source },
    statuses: checks.map(({ id, status }: Record<string, string>) => [id, status]) as [id: string, status: string][],
    sent: runs.map(({ name, phases }) => [name, phases[0]?.sent]),
    /** What a load that was sent late says about timing may differ. */
    wasLate: runs.some(({ generator }) => !generator.valid),
  };
}

function expectSame(first: ReturnType<typeof runIn>, again: ReturnType<typeof runIn>): void {
  const wasLate = first.wasLate || again.wasLate;
  const compared = ({ statuses, ...rest }: typeof first) => ({
    ...rest,
    wasLate,
    statuses: statuses.map(([id, status]) => (wasLate ? id : `${id} ${status}`)),
  });
  expect(compared(again)).toEqual(compared(first));
}

const unescaped = (html: string) =>
  html.replaceAll("&#39;", "'").replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&amp;", "&");

/** Runs a printed command in a shell, as someone who pastes it. */
function paste(command: string, cwd: string, out: string): void {
  const program = `gauntlet() { '${process.execPath}' '${join(ROOT, "dist", "src", "main.js")}' "$@"; }`;
  spawnSync("sh", ["-c", `${program}\n${command} --out ${out}`], { cwd, encoding: "utf8" });
}

test.each<[what: string, args: string[], again: RegExp]>([
  [
    "checks of your own suite",
    ["conform", "acme", "--suite", "own suite.mjs"],
    /^gauntlet conform --only acme\.created --suite 'own suite\.mjs' --target embedded --seed 7$/,
  ],
  ["a workload in a file", ["load", "./w.yaml"], /^gauntlet load \.\/w\.yaml --target embedded --seed 7$/],
])("the printed commands repeat %s", { timeout: 60_000 }, async (_what, args, again) => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "node_modules"));
  symlinkSync(ROOT, join(folder.path, "node_modules", "gateway-gauntlet"), "dir");
  writeFileSync(join(folder.path, "own suite.mjs"), SUITE);
  writeFileSync(join(folder.path, "w.yaml"), WORKLOAD);
  await gauntlet([...args, "--target", "embedded", "--seed", "7", "--out", "a"], {}, folder.path);
  const first = runIn(join(folder.path, "a"));
  expect(first.statuses.map(([, status]) => status)).toContain("fail");

  const page = unescaped(readFileSync(join(folder.path, "a", "report.html"), "utf8"));
  const whole = `gauntlet ${args.map((word) => (word.includes(" ") ? `'${word}'` : word)).join(" ")} --target embedded --seed 7`;
  expect(page).toContain(whole);
  paste(whole, folder.path, "b");
  expectSame(first, runIn(join(folder.path, "b")));

  const junit = unescaped(readFileSync(join(folder.path, "a", "junit.xml"), "utf8").replaceAll("&apos;", "'"));
  const [, part = ""] = /^reproduce: (.*?)(?:\]\]>.*|<.*)?$/m.exec(junit) ?? [];
  expect(part).toMatch(again);
  paste(part, folder.path, "c");
  expectSame(first, runIn(join(folder.path, "c")));
});
