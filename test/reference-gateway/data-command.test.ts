import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { expect, test, vi } from "vitest";
import { gauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { query, startProcess, untilSaved } from "./support/data-files.ts";

test("what was written before a kill -9 is there afterwards", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "gateway.db");
  await using first = await startProcess(data);
  const { keys } = first.ready;
  const account = await first.admin("POST", "/accounts", { name: "mine", balanceMicroUsd: 10_000 });
  const { key } = await first.admin("POST", "/keys", { account: account.id, budgetMicroUsd: 150 });
  await first.chat(key);
  await first.chat(key);
  await untilSaved(data, "SELECT * FROM keys WHERE spent_micro_usd = 214");
  const [account9, keys9] = await Promise.all([first.admin("GET", "/accounts"), first.admin("GET", "/keys")]);
  expect((await first.end("SIGKILL")).code).toBe(null);

  await using second = await startProcess(data);
  expect(second.ready.keys).toEqual(keys);
  expect(await second.admin("GET", "/keys")).toEqual(keys9);
  const saved = await second.admin("GET", "/accounts");
  expect(saved.map(({ balanceMicroUsd }: { balanceMicroUsd: number }) => balanceMicroUsd)).toEqual(
    account9.map(({ balanceMicroUsd }: { balanceMicroUsd: number }) => balanceMicroUsd),
  );
  expect((await second.chat(key)).headers["x-service-error-code"]).toBe("budget_exhausted");
  expect(await second.admin("GET", `/history?account=${account.id}`)).toHaveLength(3);
  expect(await second.end("SIGTERM")).toEqual({ code: 0, stderr: "" });
});

test("the keys of the ready line are in the file when it is printed", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "gateway.db");
  await using first = await startProcess(data, ["--tier", "starter"]);
  await first.end("SIGKILL");
  await using second = await startProcess(data);
  const { keys, limited, tiers, limits } = first.ready;
  expect(second.ready).toMatchObject({ keys, limited, tiers, limits });
  expect((await second.chat(keys.valid)).status).toBe(200);
});

test("a second process is refused, until the first one has ended", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "gateway.db");
  await using first = await startProcess(data);
  const refused = await gauntlet(["gateway", "--data", data]);
  expect(refused).toEqual({
    code: 2,
    stdout: "",
    stderr: `gauntlet: data: ${data} is in use by another process\n  Stop the gateway that has it, or name another file.\n`,
  });
  expect((await first.chat(first.ready.keys.valid)).status).toBe(200);
  await first.end("SIGTERM");
  await using second = await startProcess(data);
  expect(second.ready.keys).toEqual(first.ready.keys);
});

test.each<[what: string, make: (path: string) => void, says: RegExp]>([
  [
    "a text",
    (path) => writeFileSync(path, "not a database, and long enough for a header\n".repeat(40)),
    /is not a data file/,
  ],
  ["a database of another program", (path) => foreign(path, "CREATE TABLE notes (text)"), /is not a data file/],
  [
    "a database of another program, with a version",
    (path) => foreign(path, "PRAGMA user_version = 7"),
    /is not a data file/,
  ],
  [
    "a file of a newer version",
    (path) => foreign(path, "PRAGMA application_id = 1196315724; PRAGMA user_version = 2"),
    /was written by a newer version .format 2/,
  ],
  ["a folder", (path) => mkdirSync(path), /is not a file/],
])("%s is refused and stays as it is", async (what, make, says) => {
  using folder = temporaryFolder();
  const data = join(folder.path, "given");
  make(data);
  const read = () => (what === "a folder" ? "" : readFileSync(data, "latin1"));
  const before = read();
  const { code, stdout, stderr } = await gauntlet(["gateway", "--data", data]);
  expect([code, stdout, stderr]).toEqual([2, "", expect.stringMatching(says)]);
  // The second line says what to do.
  expect(stderr.trim().split("\n")).toHaveLength(2);
  expect(read()).toBe(before);
});

test("a file in a folder that does not exist is rejected", async () => {
  using folder = temporaryFolder();
  const { code, stderr } = await gauntlet(["gateway", "--data", join(folder.path, "none", "gateway.db")]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/cannot be opened: no such file or folder/)]);
});

test("a full disk is reported once; the gateway continues, and the file keeps what it had", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "gateway.db");
  await using first = await startProcess(data, [], { limits: "ulimit -f 400" });
  const { valid } = first.ready.keys;
  await first.chat(valid);
  await untilSaved(data, "SELECT * FROM history");
  // More than the maximum file size.
  await first.admin("POST", "/accounts", { name: "x".repeat(800_000) });
  await vi.waitUntil(() => /cannot be written/.test(first.printed()), { timeout: 30_000 });
  expect((await first.chat(valid)).status).toBe(200);
  expect((await first.admin("GET", "/history")).length).toBe(2);
  const { code, stderr } = await first.end("SIGTERM");
  expect([code, stderr.trim().split("\n").length]).toEqual([0, 1]);
  expect(query(data, "SELECT * FROM history")).toHaveLength(1);

  await using second = await startProcess(data);
  expect(second.ready.keys.valid).toBe(valid);
  expect((await second.admin("GET", "/accounts")).length).toBe(8);
  expect(await second.admin("GET", "/history")).toHaveLength(1);
});

/** A database that was not created by a gateway. */
function foreign(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}
