#!/usr/bin/env node
// Writes Portkey's configurations as files that only you can read: which provider, where, and the operator's key there.
//   PROVIDER_KEY=… node set-up.mjs
import { mkdirSync, writeFileSync } from "node:fs";

const { PROVIDER_KEY: api_key } = process.env;
if (api_key === undefined) {
  console.error("PROVIDER_KEY is not set");
  process.exit(1);
}

const PROVIDERS = { chat: "openai", messages: "anthropic" };

mkdirSync("keys", { recursive: true, mode: 0o700 });
for (const [dialect, provider] of Object.entries(PROVIDERS)) {
  const config = { provider, custom_host: "http://127.0.0.1:9100/v1", api_key };
  writeFileSync(`keys/${dialect}.json`, `${JSON.stringify(config)}\n`, { mode: 0o600 });
}
