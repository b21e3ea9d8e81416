#!/usr/bin/env node
// Creates, once, the accounts that a run against LiteLLM needs: teams, and their keys in files that only you can read.
//   LITELLM_MASTER_KEY=… node set-up.mjs
import { mkdirSync, writeFileSync } from "node:fs";
import { makeKey, makeTeam, useUp } from "./litellm.mjs";

mkdirSync("keys", { recursive: true, mode: 0o700 });
const save = (name, key) => writeFileSync(`keys/${name}.key`, `${key}\n`, { mode: 0o600 });

async function account(terms, names) {
  const team_id = await makeTeam(terms);
  for (const name of names) save(name, await makeKey({ team_id }));
}

await account({ team_alias: `gauntlet main ${Date.now()}` }, ["valid", "second"]);
await account({ team_alias: `gauntlet other ${Date.now()}` }, ["other"]);
await account({ team_alias: `gauntlet rate ${Date.now()}`, rpm_limit: 20 }, ["rate", "rate-second"]);

// An account without balance: a team whose budget is used up.
const empty = await makeTeam({ team_alias: `gauntlet empty ${Date.now()}`, max_budget: 0.0004 });
const key = await makeKey({ team_id: empty });
await useUp(key);
save("empty", key);
save("empty-second", await makeKey({ team_id: empty }));

// LiteLLM limits parallel requests per key, so no second key can share this limit.
save("slots", await makeKey({ max_parallel_requests: 4 }));
