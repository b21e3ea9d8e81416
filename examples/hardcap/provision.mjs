#!/usr/bin/env node
// The provisioning hook: {"state","runId"} on stdin, {"key"} on stdout; exit 3 for a state that it cannot create. Tenants are in the
// configuration of hardcap, so that it can only hand out those that set-up.mjs has written, each once.
import { readdirSync, readFileSync, renameSync } from "node:fs";

const { state, release } = JSON.parse(readFileSync(0, "utf8"));
if (release) process.exit(0);
if (state !== "key.cappable") process.exit(3);
const used = readdirSync("keys")
  .filter((name) => /^small-\d+\.key$/.test(name))
  .find(take);
if (used === undefined) {
  console.error("all small keys were used; run set-up.mjs again and restart the replicas");
  process.exit(1);
}
console.log(JSON.stringify({ key: readFileSync(`keys/${used}.used`, "utf8").trim() }));

/** @returns `false` if another hook took it first. */
function take(name) {
  try {
    renameSync(`keys/${name}`, `keys/${name}.used`);
    return true;
  } catch {
    return false;
  }
}
