#!/usr/bin/env node
// Writes the keys that key_table.py knows, to files that only you can read. Run it before you start LiteLLM.
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";

const NAMES = ["valid", "second", "other", "rate", "rate-second", "slots"];

mkdirSync("keys", { recursive: true, mode: 0o700 });
for (const name of NAMES) {
  writeFileSync(`keys/${name}.key`, `sk-${randomBytes(18).toString("hex")}\n`, { mode: 0o600 });
}
