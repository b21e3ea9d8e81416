// real-time: sends load, and judges how much of it was served in time
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { RunRecord } from "../../src/record/index.ts";
import { filesBelow, tracesOf } from "../support/canary.ts";
import { temporaryFolder } from "../support/gauntlet.ts";
import { recordProblems } from "../support/record-schema.ts";
import { searchable } from "../support/run-files.ts";
import { BOUNDS } from "./cases.ts";
import { watched } from "./watched.ts";

const CLIENT = fileURLToPath(new URL("../support/clients/hostile.mjs", import.meta.url));

/** `gauntlet client` runs any given command: a malicious one must not bring it down. */
test.each(["flood", "calls", "body", "bodies", "garbage", "connections", "output", "stays", "markup"])(
  "a client that is hostile (%s): bounded, recorded, nothing leaked",
  async (kind) => {
    using folder = temporaryFolder();
    const out = join(folder.path, "run");
    const scenarios = ["served", "rate-seconds"].flatMap((name) => ["--scenario", name]);
    const args = ["client", ...scenarios, "--timeout", "4", "--out", out, "--", process.execPath, CLIENT, kind];
    using noted = temporaryFolder();
    const keysFile = join(noted.path, "keys");
    const ran = await watched(args, { KEYS_FILE: keysFile }, folder.path, { boundS: BOUNDS.seconds });
    expect(ran.overTime).toBe(false);
    expect(ran.peakMib ?? 0).toBeLessThan(BOUNDS.peakMib);
    expect(ran.stderr).not.toMatch(/internal error|\n\s+at /);
    // What looks like a valid call to the gateway is one.
    expect(kind === "markup" ? [0, 1] : [1, 4], ran.stderr).toContain(ran.code);
    expect(recordProblems(out)).toEqual([]);
    const record: RunRecord = JSON.parse(readFileSync(join(out, "run.json"), "utf8"));
    expect(record.verdict.exitCode).toBe(ran.code);
    for (const text of [ran.stdout, ran.stderr]) expect(text.match(/[^\P{Cc}\n\t]/u)?.[0]).toBeUndefined();
    const shown = [
      ran.stdout,
      ran.stderr,
      ...filesBelow(folder.path).map((path) => searchable(path).toString("latin1")),
    ];
    const keys = readFileSync(keysFile, "utf8").trim().split("\n");
    expect(keys).toHaveLength(2);
    expect(keys.flatMap(tracesOf).filter((trace) => shown.some((text) => text.includes(trace)))).toHaveLength(0);
  },
);
