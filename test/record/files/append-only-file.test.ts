import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { AppendOnlyFile } from "../../../src/record/files/append-only-file.ts";
import { readLines } from "../../../src/record/files/journal.ts";
import { temporaryFolder } from "../../support/gauntlet.ts";

/** A line like those of exchanges, with much repetition. */
const lineOf = (at: number) => ({ at, text: `${"content-type: application/json ".repeat(20)}${Math.sin(at)}` });
const lines = (count: number) => Array.from({ length: count }, (_, at) => lineOf(at));

function written(path: string, values: readonly object[]): Buffer {
  using file = new AppendOnlyFile(path);
  for (const value of values) file.append(value);
  return readFileSync(path);
}

describe("a file of lines", () => {
  test("is gzip of several members that any reader accepts, a fifteenth of the size of its lines", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "lines.gz");
    const values = lines(5_000);
    written(path, values);
    const bytes = readFileSync(path);
    const text = gunzipSync(bytes).toString("utf8");
    expect(text).toBe(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
    expect(text.length).toBeGreaterThan(3 << 20);
    expect(bytes.length).toBeLessThan(text.length / 15);
    expect(readLines(path)).toEqual(values);
  });

  test("holds every line as soon as it is appended, before the file is closed", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "lines.gz");
    using file = new AppendOnlyFile(path);
    for (const [at, value] of lines(50).entries()) {
      file.append(value);
      expect(readLines(path)).toEqual(lines(at + 1));
    }
  });

  test("cut at any byte it gives the lines before the cut, and nothing that was not written", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "lines.gz");
    const values = lines(12);
    const bytes = written(path, values);
    let max = 0;
    for (let length = 0; length <= bytes.length; length++) {
      writeFileSync(path, bytes.subarray(0, length));
      const found = readLines(path);
      expect(found).toEqual(values.slice(0, found.length));
      expect(found.length).toBeGreaterThanOrEqual(max);
      max = found.length;
    }
    expect(max).toBe(values.length);
  });

  test("followed by zeros, as after a loss of power, it gives the lines before them", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "lines.gz");
    const values = lines(40);
    const bytes = written(path, values);
    for (const share of [0.2, 0.5, 0.9]) {
      const sound = Math.floor(bytes.length * share);
      writeFileSync(path, bytes.subarray(0, sound));
      const before = readLines(path);
      writeFileSync(path, Buffer.concat([bytes.subarray(0, sound), Buffer.alloc(4_096)]));
      expect(before.length).toBeGreaterThan(0);
      expect(readLines(path).slice(0, before.length)).toEqual(before);
    }
  });

  test("appends to what an earlier one wrote, complete or truncated", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "lines.gz");
    written(path, lines(3));
    written(path, lines(2));
    expect(readLines(path)).toEqual([...lines(3), ...lines(2)]);
  });

  test("accepts a line that cannot be compressed and is larger than a member", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "lines.gz");
    const noise = Array.from({ length: 400_000 }, (_, at) => Math.sin(at)).join(" ");
    const values = [lineOf(1), { noise }, lineOf(2)];
    written(path, values);
    expect(noise.length).toBeGreaterThan(6 << 20);
    expect(readLines(path)).toEqual(values);
    truncateSync(path, 3 << 20);
    expect(readLines(path)).toEqual([lineOf(1)]);
  });

  test("that something else wrote has no lines", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "lines.gz");
    writeFileSync(path, '{"at":0}\n');
    expect([readLines(path), readLines(join(folder.path, "nothing.gz"))]).toEqual([[], []]);
  });
});

/** Appends numbered lines as fast as it can, and reports on stdout how many it has appended. */
const WRITER = `
  import { AppendOnlyFile } from ${JSON.stringify(new URL("../../../src/record/files/append-only-file.ts", import.meta.url).href)};
  import { writeSync } from "node:fs";
  const file = new AppendOnlyFile(process.argv[1]);
  const text = "content-type: application/json ".repeat(300);
  for (let at = 0; ; at++) {
    file.append({ at, text: text + Math.sin(at) });
    writeSync(1, at + "\\n");
  }`;

describe("a process that is killed while it appends", () => {
  test.concurrent.each(Array.from({ length: 8 }, (_, at) => at))(
    "has lost no line, at a random moment (%d)",
    async () => {
      using folder = temporaryFolder();
      const path = join(folder.path, "lines.gz");
      const tsx = fileURLToPath(import.meta.resolve("tsx"));
      const child = spawn(process.execPath, ["--import", tsx, "--input-type=module", "-e", WRITER, path], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let said = "";
      child.stdout.on("data", (bytes) => (said += bytes));
      const ended = once(child, "close");
      await expect.poll(() => said, { timeout: 30_000, interval: 5 }).not.toBe("");
      await new Promise((done) => setTimeout(done, Math.random() * 400));
      child.kill("SIGKILL");
      await ended;
      const appended = said.split("\n").length - 1;
      const found = readLines(path).map((line) => (line as { at: number }).at);
      expect(existsSync(path)).toBe(true);
      expect(found).toEqual(Array.from({ length: found.length }, (_, at) => at));
      // One may have been written but not reported.
      expect([appended, appended + 1]).toContain(found.length);
    },
  );
});
