#!/usr/bin/env node
// A provisioning hook for the reference gateway. Reads one JSON document from stdin and writes to stdout:
//   {"state":"key.cappable","runId":"…"}  →  {"key":"…"}, exit 0; exit 3 for a state that it does not know
//   {"release":true,"runId":"…"}          →  exit 0 when everything created for that run is deleted
// Anything else is a failure: the run stops with exit code 2. READY is the path of a file with the first line that the gateway printed.
import { readFileSync } from "node:fs";

const { adminUrl, adminToken, keys } = JSON.parse(readFileSync(process.env.READY, "utf8"));
const { state, runId, release } = JSON.parse(readFileSync(0, "utf8"));

async function call(method, path, body) {
  const response = await fetch(adminUrl + path, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
  return response.json();
}

const { account } = await call("POST", "/keys/find", { key: keys.valid });
const make = (terms) => call("POST", "/keys", { account, ...terms });

const MAKERS = {
  "key.second": () => make({}),
  "key.cappable": () => make({ capMicroUsd: 4600 }),
  "key.childSmall": () => make({ budgetMicroUsd: 4600 }),
  "key.revoked": async () => {
    const made = await make({});
    await call("PATCH", `/keys/${made.id}`, { revoked: true });
    return made;
  },
};

if (release) {
  // The reference gateway forgets its keys when it stops. A real hook would delete the keys that it created for runId.
  console.error(`nothing is deleted for ${runId}`);
  process.exit(3);
}
const maker = MAKERS[state];
if (maker === undefined) process.exit(3);
const { key } = await maker();
console.log(JSON.stringify({ key }));
