// A client of a model gateway that follows the retry rules, or breaks some of them: `node client.mjs [defect,…]`.
const { env } = process;
const {
  GAUNTLET_BASE_URL: base,
  GAUNTLET_API_KEY: key,
  GAUNTLET_MODEL: model,
  GAUNTLET_CALLS: calls,
  GAUNTLET_STREAM: streamed,
  GAUNTLET_TIMEOUT_S: timeoutS,
} = env;
const defects = (process.argv[2] ?? "none").split(",");
const is = (name) => defects.includes(name);

const MAX_ATTEMPTS = defects.includes("loops") && env.GAUNTLET_SCENARIO === "rate-unusable-retry-after" ? 9 : 4;
const MAX_WAIT_MS = 60_000;
const FINAL = ["insufficient_credits", "quota_exceeded", "budget_exhausted", "invalid_api_key", "key_revoked"];

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** As many concurrent requests as the account allows; fewer after a concurrency denial. */
const lane = { limit: Number(calls), running: 0, waiting: [] };
async function enter() {
  while (lane.running >= lane.limit) await new Promise((resolve) => lane.waiting.push(resolve));
  lane.running += 1;
}
function leave() {
  lane.running -= 1;
  for (const resolve of lane.waiting.splice(0)) resolve();
}

function backoffMs(attempt) {
  if (is("constant")) return 400 * (0.9 + Math.random() / 10);
  if (is("endless")) return 20;
  const full = 400 * 2 ** attempt;
  return is("no-jitter") ? full : full * (0.5 + Math.random() / 2);
}

/** Milliseconds to wait; `undefined` without a usable Retry-After. */
function retryAfterMs(value) {
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  if (Number.isNaN(at) || !/GMT$/.test(value)) return undefined;
  return is("no-dates") ? undefined : Math.max(0, at - Date.now());
}

/** Milliseconds until the next attempt; `undefined` for none. */
function waitMs(response, reason, attempt) {
  const { status } = response;
  if (is("retries-keys") && status === 401) return 100;
  if (is("retries-money") && status === 402) return 1_000;
  if (is("retries-budget") && reason === "budget_exhausted") return 1_000;
  if (is("retries-models") && status === 404) return 100;
  if (FINAL.includes(reason) || (status !== 429 && status < 500)) return undefined;
  if (is("loops") && response.headers.get("retry-after") === "-1") return 0;
  if (is("loops") && response.headers.get("retry-after") === "soon") return 0;
  const statedMs = status === 429 ? retryAfterMs(response.headers.get("retry-after")) : undefined;
  if (statedMs === undefined) return backoffMs(attempt);
  if (is("impatient")) return statedMs / 2;
  if (statedMs <= MAX_WAIT_MS) return statedMs;
  return is("cuts-long-waits") ? 3_000 : undefined;
}

async function send(messages, extra = {}) {
  const dialect = is("x-api-key") ? "messages" : "chat/completions";
  const credential = is("x-api-key")
    ? { "x-api-key": key, "anthropic-version": "2023-06-01" }
    : { authorization: `Bearer ${key}` };
  const headers = { "content-type": "application/json", ...credential, ...extra };
  const body = JSON.stringify({ model, messages, max_tokens: 100, stream: streamed === "1" });
  const signal = AbortSignal.timeout(Number(timeoutS) * 1_000);
  return fetch(`${base}/${dialect}`, { method: "POST", headers, body, signal, redirect: "manual" });
}

/** Text of a stream, as far as it was received. */
async function read(response) {
  let [raw, whole] = ["", true];
  try {
    for await (const piece of response.body) raw += Buffer.from(piece).toString("utf8");
  } catch {
    whole = false;
  }
  const chunks = [...raw.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json));
  return { text: chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join(""), whole };
}

async function call(prompt) {
  const messages = [{ role: "user", content: prompt }];
  for (let attempt = 0; ; attempt += 1) {
    await enter();
    let response;
    try {
      response = await send(messages);
    } catch (error) {
      leave();
      if (is("repeats") && attempt < 2) continue;
      throw error;
    }
    if (response.status === 200 && streamed === "1") {
      const { text, whole } = await read(response);
      leave();
      process.stdout.write(is("appends") ? text : `${text}\n`);
      if (whole) return;
      if (is("continues")) messages.push({ role: "assistant", content: text }, { role: "user", content: "go on" });
      continue;
    }
    await response.text();
    leave();
    if (response.status === 200) return;
    if (response.status === 307) {
      const to = response.headers.get("location");
      if (is("leaks")) await fetch(to, { method: "POST", headers: { "x-api-key": key }, body: "{}" });
      throw new Error(`redirected to ${to}`);
    }
    const reason = response.headers.get("x-service-error-code");
    if (reason === "concurrency_limit_exceeded" && !is("keeps-parallel")) lane.limit = Math.max(1, lane.running);
    const wait = waitMs(response, reason, attempt);
    if (wait === undefined || (attempt + 1 >= MAX_ATTEMPTS && !is("endless") && Number(calls) === 1))
      throw new Error(`${response.status} ${reason}`);
    await sleep(wait);
  }
}

if (is("crashes")) throw new Error("no configuration found");
if (is("hangs")) await sleep(600_000);
const ended = await Promise.allSettled(Array.from({ length: Number(calls) }, (_, index) => call(`Question ${index}`)));
for (const { reason } of ended.filter(({ status }) => status === "rejected"))
  process.stderr.write(`${reason.message}\n`);
process.exitCode = ended.some(({ status }) => status === "rejected") ? 1 : 0;
