import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { gauntlet } from "../support/gauntlet.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const commands = [
  ...new Set([...readme.matchAll(/^\| `gauntlet (k[68]s? export|[\w-]+)/gm)].map(([, command = ""]) => command)),
];
const [, exceptions = ""] = /have this option except ([\s\S]*?)\. /.exec(readme) ?? [];
/** Commands with an action of which the README's table shows one. */
const ACTIONS: Readonly<Record<string, string>> = { waivers: "waivers suggest", baseline: "baseline accept" };

test("the commands without --json are those that the README names", { timeout: 120_000 }, async () => {
  const without: string[] = [];
  for (const command of commands) {
    const { stdout } = await gauntlet([...(ACTIONS[command] ?? command).split(" "), "--help"]);
    if (!/^ +--json /m.test(stdout)) without.push(command);
  }
  expect(commands.length).toBeGreaterThan(25);
  const named = [...exceptions.matchAll(/`([^`]+)`/g)].map(([, command = ""]) => command);
  expect(without.sort()).toEqual(named.sort());
});
