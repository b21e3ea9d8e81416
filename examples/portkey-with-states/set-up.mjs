#!/usr/bin/env node
// Writes the keys of a reference gateway, from the line that it prints when it is ready, as files that only you can read.
//
//   gauntlet gateway --port 8786 > ready.json & node set-up.mjs
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const { keys, limited, tiers } = JSON.parse(readFileSync("ready.json", "utf8"));
const named = Object.entries(keys);
const [rate, slots] = limited;
for (const [account, { key, second }] of Object.entries({ rate, slots, ...tiers })) {
  named.push([account, key], [`${account}Second`, second]);
}
mkdirSync("keys", { recursive: true, mode: 0o700 });
for (const [name, key] of named) writeFileSync(`keys/${name}`, `${key}\n`, { mode: 0o600 });
