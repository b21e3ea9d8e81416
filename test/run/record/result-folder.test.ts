// real-time: sends load, and judges how much of it was served in time
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pc from "picocolors";
import { expect, test } from "vitest";
import { openResultFolder, type Result } from "../../../src/run/record/result-folder.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { rawServer } from "../../support/raw-server.ts";

const WORKLOAD = "name: w\narrivals: { kind: constant, ratePerS: 2, durationS: 60 }\n";
const RESULT: Result = {
  exitCode: 4,
  document: { exitCode: 4 },
  body: "row\n",
  sentence: "nothing was found",
};

test("--out writes what the command printed, as a page and as JSON", { timeout: 60_000 }, async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "w.yaml"), WORKLOAD);
  const size = await gauntlet(["size", "w.yaml", "--out", "sized"], {}, folder.path);
  expect(size.stdout).toMatch(/smallest tier: starter\nreport: sized\/report\.html\n$/);
  // A prediction has no verdict: what it predicts is the headline.
  const sized = readFileSync(join(folder.path, "sized/report.html"), "utf8");
  expect(sized).toContain('<span class="result">Smallest tier: starter</span>');
  expect(sized).not.toMatch(/\bpass\b/i);
  expect(JSON.parse(readFileSync(join(folder.path, "sized/result.json"), "utf8"))).toMatchObject({ workload: "w" });

  const search = ["--objective", "failed < 5%", "--from", "5", "--to", "5", "--step-s", "2", "--minutes", "0.1"];
  const capacity = await gauntlet(["capacity", "--target", "embedded", ...search, "--out", "found"], {}, folder.path);
  expect(capacity.stdout).toMatch(/^exit code 4 \(inconclusive\); report: found\/report\.html\n$/m);
  const page = readFileSync(join(folder.path, "found/report.html"), "utf8");
  expect(page).toMatch(
    /Inconclusive[\s\S]*No limit found\. The highest level tried, 5 requests\/s, met the objective \(failed &lt; 5%\)/,
  );

  const file = await gauntlet(["size", "w.yaml", "--out", "w.yaml/x"], {}, folder.path);
  expect([file.code, file.stderr]).toEqual([2, expect.stringContaining("--out: w.yaml/x cannot be written")]);
});

test("a folder that holds a run or a result is refused before the first request", async () => {
  await using server = await rawServer((socket) => void socket.end("HTTP/1.1 500 \r\nContent-Length: 0\r\n\r\n"));
  using folder = temporaryFolder();
  const yaml = `baseUrl: ${server.origin}/v1\nkeys: { valid: env:K }\nmodels: { chat: m }\nlimits: { rpm: 60, inFlight: 4 }\n`;
  writeFileSync(join(folder.path, "t.yaml"), yaml);
  writeFileSync(join(folder.path, "w.yaml"), WORKLOAD);
  for (const file of ["journal.ndjson.gz", "result.json", "report.html"]) {
    mkdirSync(join(folder.path, "out"));
    writeFileSync(join(folder.path, "out", file), "kept");
    const commands = [
      ["size", "w.yaml", "--verify"],
      ["limits", "--account", "valid"],
      ["capacity", "--objective", "failed < 5%"],
    ];
    for (const command of commands) {
      const { code, stderr } = await gauntlet(
        [...command, "--target", "t.yaml", "--out", "out"],
        { K: "k-0123456789" },
        folder.path,
      );
      expect([code, stderr]).toEqual([2, expect.stringContaining(`--out: out already contains ${file}`)]);
    }
    expect(readdirSync(join(folder.path, "out"))).toEqual([file]);
    expect(readFileSync(join(folder.path, "out", file), "utf8")).toBe("kept");
    rmSync(join(folder.path, "out"), { recursive: true });
  }
  expect(server.requests).toEqual([]);
});

test("a result that can no longer be written is printed nevertheless", () => {
  using folder = temporaryFolder();
  const out = join(folder.path, "found");
  const write = openResultFolder(out, "capacity");
  rmSync(out, { recursive: true });
  const { exitCode, document, text, ioError } = write(RESULT);
  expect({ exitCode, document }).toEqual({ exitCode: 4, document: { exitCode: 4 } });
  expect(text(pc.createColors(false))).toBe("row\nINCONCLUSIVE: nothing was found\nexit code 4 (inconclusive)\n");
  expect(ioError?.message).toContain("result.json can no longer be written");
});

test("a key in every part of a response is in nothing that limits and size print and write", async () => {
  const key = "ck-quoted-0123456789abcdef";
  const body = JSON.stringify({ id: "x", object: key, choices: key, error: { message: key, code: key } });
  await using server = await rawServer((socket, _request, count) => {
    const status = count % 2 === 0 ? "200 OK" : `429 ${key}`;
    const headers = `Content-Type: application/json\r\nX-Service-Error-Code: ${key}\r\nContent-Length: ${body.length}`;
    socket.write(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`);
  });
  using folder = temporaryFolder();
  const yaml = `baseUrl: ${server.origin}/v1\nkeys: { valid: env:K }\nmodels: { chat: m }\nlimits: { rpm: 600, inFlight: 4 }\n`;
  writeFileSync(join(folder.path, "t.yaml"), yaml);
  writeFileSync(join(folder.path, "w.yaml"), WORKLOAD.replace("durationS: 60", "durationS: 3"));
  const commands = {
    limits: ["limits", "--account", "valid", "--minutes", "0.05", "--budget-requests", "40"],
    size: ["size", "w.yaml", "--verify"],
  };
  for (const [out, command] of Object.entries(commands)) {
    const ran = await gauntlet([...command, "--target", "t.yaml", "--out", out], { K: key }, folder.path);
    const files = ["result.json", "report.html"].map((file) => readFileSync(join(folder.path, out, file), "utf8"));
    for (const text of [ran.stdout, ran.stderr, ...files]) expect(text, out).not.toContain(key);
  }
});
