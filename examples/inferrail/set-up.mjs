#!/usr/bin/env node
// Writes the key of the gateway to a file that only you can read. Run it before you start the replicas.
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";

mkdirSync("keys", { recursive: true, mode: 0o700 });
writeFileSync("keys/valid.key", `sk-${randomBytes(18).toString("hex")}\n`, { mode: 0o600 });
