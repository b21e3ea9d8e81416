#!/usr/bin/env node
// The provisioning hook for LiteLLM: {"state","runId"} on stdin, {"key"} on stdout; exit 3 for a state that it cannot create.
// Keys carry the run's id as an alias, so that {"release":true,"runId"} can delete them when the run is over.
import { readFileSync } from "node:fs";
import { makeKey, manage, useUp } from "./litellm.mjs";

// One line instead of a stack: Gauntlet shows the end of a hook's standard error.
process.on("uncaughtException", ({ message }) => {
  console.error(message);
  process.exit(1);
});

const { state, runId, release } = JSON.parse(readFileSync(0, "utf8"));
const alias = `gauntlet-${runId}`;
const make = (terms) => makeKey({ ...terms, key_alias: `${alias}-${state}-${process.pid}-${Date.now()}` });
/** About twenty minimal requests at the prices of the example configuration. */
const SMALL = 0.009;

const MAKERS = {
  "key.revoked": async () => {
    const key = await make({});
    await manage("/key/block", { key });
    return key;
  },
  "key.cappable": () => make({ max_budget: SMALL, budget_duration: "1d" }),
  "key.capped": async () => {
    const key = await make({ max_budget: 0.0004, budget_duration: "1d" });
    await useUp(key);
    return key;
  },
  "key.childSmall": () => make({ max_budget: SMALL }),
  "key.childExhausted": async () => {
    const key = await make({ max_budget: 0.0004 });
    await useUp(key);
    return key;
  },
};

if (release) {
  const { LITELLM_URL = "http://127.0.0.1:9222", LITELLM_MASTER_KEY } = process.env;
  const aliases = [];
  for (let page = 1; ; page++) {
    const response = await fetch(`${LITELLM_URL}/key/list?return_full_object=true&size=100&page=${page}`, {
      headers: { authorization: `Bearer ${LITELLM_MASTER_KEY}` },
    });
    if (!response.ok) throw new Error(`/key/list: ${response.status}`);
    const { keys, total_pages } = await response.json();
    aliases.push(...keys.map(({ key_alias }) => key_alias).filter((name) => name?.startsWith(alias)));
    if (page >= total_pages) break;
  }
  if (aliases.length > 0) await manage("/key/delete", { key_aliases: aliases });
  process.exit(0);
}
const maker = MAKERS[state];
if (maker === undefined) process.exit(3);
console.log(JSON.stringify({ key: await maker() }));
