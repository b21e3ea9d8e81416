#!/usr/bin/env node
// The provisioning hook: {"state","runId"} on stdin, {"key"} on stdout; exit 3 for a state that it cannot create. Tenants are in the
// configuration of hardcap, so that it can only hand out those that set-up.mjs has written, each once.
import { existsSync, readFileSync, renameSync } from "node:fs";

const { state, release } = JSON.parse(readFileSync(0, "utf8"));
if (release) process.exit(0);
if (state !== "key.cappable") process.exit(3);
const next = [1, 2, 3, 4].map((number) => `keys/small-${number}.key`).find(existsSync);
if (next === undefined) {
  console.error("all small keys were used; run set-up.mjs again and restart the replicas");
  process.exit(1);
}
renameSync(next, `${next}.used`);
console.log(JSON.stringify({ key: readFileSync(`${next}.used`, "utf8").trim() }));
