// real-time: sends load, and judges how much of it was served in time
import { afterAll, expect, test } from "vitest";
import { keptReliability, reliabilityLines } from "../../scripts/docs/reliability.ts";
import { BEHAVIOURS, type CaseResult, COMMANDS, type Command, runCase } from "./cases.ts";

/** One of each kind; `npm run verify adversary` runs all of them against every command. */
const CASES: readonly (readonly [behaviour: string, command: Command])[] = [
  ["head.endless-fields", COMMANDS.conform],
  ["bomb.brotli", COMMANDS.conform],
  ["json.a-million-lists-deep", COMMANDS.conform],
  ["key.repeated-eight-megabytes", COMMANDS.conform],
  ["redirect.307", COMMANDS.preflight],
  ["head.sixteen-thousand-retry-after", COMMANDS.load],
  ["head.flood-of-100", COMMANDS.doctor],
];

const results: CaseResult[] = [];

test.each(CASES)("%s: bounded, recorded, nothing leaked", async (name, command) => {
  const behaviour = BEHAVIOURS.find((one) => one.name === name);
  if (behaviour === undefined) throw new Error(`unknown behaviour ${name}`);
  const result = await runCase(behaviour, command);
  results.push(result);
  expect(result.complaints).toEqual([]);
});

afterAll(() => {
  const survived = results.filter(({ complaints }) => complaints.length === 0).length;
  const lines = [`${survived} of ${results.length} cases of this run survived`, ...reliabilityLines(keptReliability())];
  console.log(lines.join("\n"));
});
