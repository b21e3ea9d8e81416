import { cpSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

const folder = temporaryFolder();
const run = join(folder.path, "run");
beforeAll(async () => {
  const only = ["--only", "models.list", "--only", "robustness.framing"];
  expect((await gauntlet(["conform", "--target", "embedded", ...only, "--out", run])).code).toBe(0);
});
afterAll(() => folder[Symbol.dispose]());

const halved = (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2));

test.each<[string, string, (file: string) => void]>([
  ["exchanges, cut in the middle", "exchanges.ndjson.gz", halved],
  ["no exchanges", "exchanges.ndjson.gz", (file) => truncateSync(file)],
  ["something else in place of the exchanges", "exchanges.ndjson.gz", (file) => writeFileSync(file, "not ours")],
  ["no recordings", "recordings.ndjson.gz", (file) => truncateSync(file)],
  ["something else in place of the recordings", "recordings.ndjson.gz", (file) => writeFileSync(file, "not ours")],
])("a run with %s is not judged again, and the file is named", async (what, name, damage) => {
  const copy = join(folder.path, what.replaceAll(" ", "-"));
  cpSync(run, copy, { recursive: true });
  damage(join(copy, "exchanges", name));
  const { code, stdout, stderr } = await gauntlet(["rejudge", copy]);
  expect(stderr).toContain(`${join(copy, "exchanges", name)} is truncated or damaged: it lacks `);
  expect([code, stdout]).toEqual([2, ""]);
});

test("a whole run is judged again", async () => {
  expect(await gauntlet(["rejudge", run])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("2 check instances judged again, 0 changed"),
  });
});
