#!/usr/bin/env node
// Writes new keys to files that only you can read, and hardcap.yaml with these keys. Run it before you start the replicas.
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

/** How many keys with a small budget a run can use up. */
const SMALL = Array.from({ length: 40 }, (_, index) => `small-${index + 1}`);
const NAMES = ["valid", "second", "other", "rate", "rate-second", "capped", ...SMALL];

mkdirSync("keys", { recursive: true, mode: 0o700 });
const keys = new Map(NAMES.map((name) => [name, `sk-${randomBytes(18).toString("hex")}`]));
for (const [name, key] of keys) writeFileSync(`keys/${name}.key`, `${key}\n`, { mode: 0o600 });
const config = readFileSync("config.yaml", "utf8")
  .replace(/^.*small-N.*\n/m, (line) => SMALL.map((name) => line.replaceAll("small-N", name)).join(""))
  .replaceAll(
    /(api_keys: )\[(.*?)\]/g,
    (_, before, names) =>
      `${before}[${names
        .split(", ")
        .map((name) => keys.get(name))
        .join(", ")}]`,
  );
writeFileSync("hardcap.yaml", config, { mode: 0o600 });
