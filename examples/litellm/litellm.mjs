// LiteLLM's documented management interface, as the set-up and the provisioning hook use it.
// LITELLM_URL is the proxy's origin, LITELLM_MASTER_KEY its master key; neither is ever printed.
const { LITELLM_URL = "http://127.0.0.1:9222", LITELLM_MASTER_KEY } = process.env;

if (LITELLM_MASTER_KEY === undefined) {
  console.error("LITELLM_MASTER_KEY is not set");
  process.exit(1);
}

/** Calls a management endpoint with the master key. */
export async function manage(path, body) {
  const response = await fetch(LITELLM_URL + path, {
    method: "POST",
    headers: { authorization: `Bearer ${LITELLM_MASTER_KEY}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const result = await response.json();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(result).slice(0, 300)}`);
  return result;
}

/** Creates a virtual key. */
export async function makeKey(terms) {
  return (await manage("/key/generate", terms)).key;
}

/** Creates a team, which serves as an account here: its limits and budgets apply to all its keys. */
export async function makeTeam(terms) {
  return (await manage("/team/new", terms)).team_id;
}

/** Sends the smallest chat request. */
export async function spend(key) {
  const response = await fetch(`${LITELLM_URL}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "echo-fast", messages: [{ role: "user", content: "hi" }] }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Spends with a key until it is denied: LiteLLM records spending shortly after the reply. */
export async function useUp(key) {
  for (let attempt = 0; attempt < 40; attempt++) {
    if ((await spend(key)) >= 400) return;
    await new Promise((done) => setTimeout(done, 250));
  }
  throw new Error("the key was not denied within 40 requests");
}
