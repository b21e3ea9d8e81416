// real-time: checks fill the limits of a minute and wait for Retry-After
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { withLines } from "../../src/propose/proposed-line.ts";
import { commonWords } from "../../src/propose/telling-message.ts";
import { type CustomResponse, type FrontOptions, startProxy, without } from "../support/front.ts";
import { gauntlet, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";

const KEYS = ["valid", "second", "revoked", "empty", "capped", "childExhausted"] as const;

/** Makes another key of each denied state, at the reference gateway. */
const HOOK = `import { readFileSync } from "node:fs";
const { adminUrl, adminToken, keys } = JSON.parse(process.env.READY);
const { state, release } = JSON.parse(readFileSync(0, "utf8"));
async function call(method, path, body) {
  const headers = { authorization: \`Bearer \${adminToken}\`, "content-type": "application/json" };
  return (await fetch(adminUrl + path, { method, headers, body: JSON.stringify(body) })).json();
}
if (release) process.exit(0);
const { account } = await call("POST", "/keys/find", { key: keys.valid });
const MAKERS = {
  "key.revoked": async () => {
    const made = await call("POST", "/keys", { account });
    await call("PATCH", "/keys/" + made.id, { revoked: true });
    return made;
  },
  "key.empty": async () => call("POST", "/keys", { account: (await call("POST", "/accounts", { name: "e", tier: "starter" })).id }),
  "key.capped": () => call("POST", "/keys", { account, capMicroUsd: 0 }),
  "key.childExhausted": () => call("POST", "/keys", { account, budgetMicroUsd: 0 }),
};
if (MAKERS[state] === undefined) process.exit(3);
console.log(JSON.stringify({ key: (await MAKERS[state]()).key }));
`;

/** The reference gateway behind a proxy that changes its denials, and a plain target file for it. */
async function gatewayBehind(options: FrontOptions, { hasHook = false } = {}) {
  const folder = temporaryFolder();
  const gateway = startGauntlet(["gateway"]);
  const ready = JSON.parse((await gateway.printed("\n")).split("\n")[0] ?? "");
  const front = await startProxy(ready.baseUrl, options);
  const environment: Record<string, string> = Object.fromEntries(
    KEYS.map((name) => [`K_${name}`, ready.keys[name] as string]),
  );
  const keys = KEYS.map((name) => `  ${name}: env:K_${name}\n`).join("");
  const limited = (ready.limited as { key: string; second: string; limits: { rpm: number; inFlight: number } }[]).map(
    ({ key, second, limits: { rpm, inFlight } }, index) => {
      environment[`K_LIMITED_${index}`] = key;
      environment[`K_LIMITED_SECOND_${index}`] = second;
      return `  - { key: env:K_LIMITED_${index}, second: env:K_LIMITED_SECOND_${index}, limits: { rpm: ${rpm}, inFlight: ${inFlight} } }\n`;
    },
  );
  environment["K_second"] = ready.keys.second;
  if (hasHook) {
    environment["READY"] = JSON.stringify(ready);
    writeFileSync(join(folder.path, "hook.mjs"), HOOK);
  }
  const hook = hasHook ? "provision: { command: node hook.mjs }\n" : "";
  const file = `# what the operator knows\nbaseUrl: ${front.baseUrl}\nkeys:\n${keys}limits: { rpm: 6000, inFlight: 256 }\nlimited:\n${limited.join("")}${hook}models:\n  slow: slow\n`;
  writeFileSync(join(folder.path, "t.yaml"), file);
  return {
    path: folder.path,
    baseUrl: front.baseUrl,
    key: ready.keys.valid as string,
    async propose() {
      const { stdout } = await gauntlet(
        ["doctor", "--target", "t.yaml", "--propose", "--json"],
        environment,
        folder.path,
      );
      const document = JSON.parse(stdout) as {
        yaml: string;
        requests: number;
        denials: { reason: string | null; what: string; status: number; isRight: boolean }[];
      };
      writeFileSync(join(folder.path, "proposed.yaml"), document.yaml);
      return document;
    },
    /** What fails in suites whose checks read denials. */
    async failures(target: string) {
      const suites = ["auth", "models", "errors", "chat", "messages"];
      const args = ["conform", ...suites, "--target", target, "--json"];
      const { checks } = JSON.parse((await gauntlet(args, environment, folder.path)).stdout) as {
        checks: { id: string; status: string; message: string }[];
      };
      const failed = checks.filter(({ status }) => status === "fail" || status === "harness-error");
      return failed.map(({ id, message }) => `${id}: ${message}`);
    },
    run: (...args: string[]) => gauntlet(args, environment, folder.path),
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** A denial without the headers of the specification. */
function bare({ headers }: CustomResponse): Record<string, string> {
  const { "x-service-error-code": _, "x-service-action": __, ...others } = headers;
  return others;
}

const reasonOf = ({ headers }: CustomResponse) => headers["x-service-error-code"];

/** In a custom header, with custom words. */
const ownHeader: FrontOptions = {
  reword: (refusal) => {
    const reason = reasonOf(refusal);
    const headers = bare(refusal);
    return {
      ...refusal,
      headers: reason === undefined ? headers : { ...headers, "X-Gate-Reason": `E_${reason.toUpperCase()}` },
    };
  },
};

const TYPES: Readonly<Record<string, string>> = {
  invalid_api_key: "auth_error",
  key_revoked: "auth_error",
  insufficient_credits: "budget_exceeded",
  quota_exceeded: "budget_exceeded",
  budget_exhausted: "budget_exceeded",
};

/** Like LiteLLM: `error.type` is the only code, several denials share it, and some have another status. */
const inTheBody: FrontOptions = {
  reword: (refusal) => {
    const reason = reasonOf(refusal) ?? "";
    const status = reason === "model_not_found" ? 400 : TYPES[reason] === "budget_exceeded" ? 422 : refusal.status;
    const type = TYPES[reason] ?? (status === 429 ? "throttling_error" : "invalid_request_error");
    const sentences: Readonly<Record<string, string>> = {
      invalid_api_key: "Authentication Error, this key is not in the table",
      key_revoked: "Authentication Error, the key was blocked by its owner",
      insufficient_credits: "Budget has been exceeded: Team without balance",
      quota_exceeded: "Budget has been exceeded for the day",
      budget_exhausted: "Budget has been exceeded for good",
      model_not_found: "Invalid model name passed in",
      rate_limit_exceeded: "Limit reached: requests of this minute",
      concurrency_limit_exceeded: "Limit reached: requests in parallel",
    };
    const error = {
      message: sentences[reason] ?? "something else is wrong",
      type,
      param: "None",
      code: String(status),
    };
    // A header on only some denials is a weaker signal than a member of all of them.
    const some = status === 429 ? { rate_limit_type: reason === "rate_limit_exceeded" ? "requests" : "parallel" } : {};
    return {
      status,
      headers: { ...bare(refusal), ...some, "content-type": "application/json" },
      body: JSON.stringify({ error }),
    };
  },
};

/** No code anywhere: a sentence. */
const inText: FrontOptions = {
  reword: (refusal) => ({
    ...refusal,
    headers: { ...bare(refusal), "content-type": "application/json" },
    body: JSON.stringify({
      error: {
        message: `Sorry: ${(reasonOf(refusal) ?? "bad request").replaceAll("_", " ")}.`,
        type: "error",
        code: refusal.status,
      },
    }),
  }),
};

describe.each([
  ["a custom header", ownHeader, { headers: { reason: "x-gate-reason" }, contract: { actionHint: false } }],
  [
    "a member of the body, with shared words and other statuses",
    inTheBody,
    {
      contract: {
        reasonFrom: "/error/type",
        denials: {
          rate_limit_exceeded: { reason: "throttling_error" },
          concurrency_limit_exceeded: { reason: "throttling_error", message: expect.any(String) },
        },
      },
    },
  ],
  [
    "a sentence",
    inText,
    {
      contract: {
        denials: { key_revoked: { message: expect.any(String) }, budget_exhausted: { message: expect.any(String) } },
      },
    },
  ],
] as const)("a gateway that says its reasons in %s", (_, options, expected) => {
  test.concurrent("gets a proposed target file with which no check fails because of its wording", {
    timeout: 400_000,
  }, async () => {
    await using gateway = await gatewayBehind(options, { hasHook: true });
    expect((await gateway.failures("t.yaml")).length).toBeGreaterThan(3);
    const { yaml, requests, denials } = await gateway.propose();
    // What is sent: two windows of the lowest rate in each dialect, and more than the concurrency limit.
    expect(requests).toBeLessThanOrEqual(40 + 2 * 20 + 2 + 2 * 6);
    expect(denials.filter(({ isRight }) => !isRight).map(({ what }) => what)).toEqual([]);
    expect(yaml).toContain(`# This file recognizes ${denials.filter(({ reason }) => reason !== null).length} of `);
    expect(parse(yaml)).toMatchObject({ ...expected, baseUrl: gateway.baseUrl, models: { chat: expect.any(String) } });
    expect(yaml).toContain("# what the operator knows");
    // Each added line has its evidence, and the file contains no key.
    const proposed = yaml
      .split("\n")
      .filter((line) => /^ {2,4}(chat|messages|reasonFrom|actionHint|\w+_\w+): /.test(line));
    expect(proposed.length).toBeGreaterThan(5);
    expect(proposed.filter((line) => !line.includes(" # "))).toEqual([]);
    expect(yaml).not.toContain(gateway.key);
    expect(await gateway.failures("proposed.yaml")).toEqual([]);
  });
});

/** No code, and sentences with the owner's name for the key or the account, the limit and the time. */
const namesKeys: FrontOptions = {
  reword: (refusal, path, key = "") => {
    const reason = reasonOf(refusal) ?? "";
    const alias = aliasOf(key);
    const sentences: Readonly<Record<string, string>> = {
      invalid_api_key:
        key === "" ? "No api key passed in." : "Authentication Error, Invalid proxy server token passed.",
      key_revoked: `Key ${alias} is blocked by its owner`,
      insufficient_credits: `Budget of ${alias} is spent: the organization has nothing left`,
      quota_exceeded: `Budget of ${alias} is spent: 5.02 of 5.00 for today`,
      budget_exhausted: `Budget of ${alias} is spent: 5.02 of 5.00`,
      model_not_found: `No deployment serves the model of key ${alias}`,
      rate_limit_exceeded: `Rate limit of ${alias} reached: 20 requests per minute, ${Date.now() % 60} s left`,
      concurrency_limit_exceeded: `Parallel limit of ${alias} reached: 4 requests`,
    };
    const message = sentences[reason] ?? "something else is wrong";
    // One of them is an object with a word in it, and this word says nothing about the reason.
    const detail = reason === "insufficient_credits" ? { message, type: "error" } : message;
    return {
      ...refusal,
      headers: { ...bare(refusal), "content-type": "application/json" },
      body: JSON.stringify({ detail, error: { message, type: "error", code: refusal.status }, path }),
    };
  },
};

/** Names that look like part of the sentence. */
const NAMES = ["blocked", "childdone", "team-red", "main", "second", "alice", "ops", "blue"];

const aliases = new Map<string, string>();

/** The keys of one state are created one after the other, and get different names. */
function aliasOf(key: string): string {
  const alias = aliases.get(key) ?? NAMES[aliases.size % NAMES.length] ?? "";
  aliases.set(key, alias);
  return alias;
}

describe("a gateway whose sentences name the key", { timeout: 400_000 }, () => {
  test("is proposed what holds for two keys, and shown what only one key showed", async () => {
    await using gateway = await gatewayBehind(namesKeys);
    const { yaml, denials } = await gateway.propose();
    const { contract } = parse(yaml);
    expect(contract.reasonFrom).toBeUndefined();
    // Two keys or two models show these; one key is enough for the text of an exhausted account.
    expect(Object.keys(contract.denials).toSorted()).toEqual([
      "concurrency_limit_exceeded",
      "invalid_api_key",
      "model_not_found",
      "rate_limit_exceeded",
    ]);
    for (const { message } of Object.values(contract.denials) as { message: unknown }[])
      expect(JSON.stringify(message)).not.toMatch(new RegExp(`\\b(${NAMES.join("|")})\\b|\\d`));
    const unread = denials.filter(({ isRight }) => !isRight).map(({ reason }) => reason);
    expect(new Set(unread)).toEqual(
      new Set(["key_revoked", "insufficient_credits", "quota_exceeded", "budget_exhausted"]),
    );
    expect(yaml).toMatch(
      /# key_revoked is not read: 401 to the key revoked on \/v1\/chat\/completions: \{.*is blocked by/,
    );
    expect(yaml).toMatch(/only one key was denied this way: make another one with a provision hook/);
    expect(yaml).toMatch(/only one key was denied this way: set keys\.emptySecond/);
  });

  test("is proposed the others, too, if a provisioner makes a second key", async () => {
    await using gateway = await gatewayBehind(namesKeys, { hasHook: true });
    const { yaml, denials } = await gateway.propose();
    expect(denials.filter(({ isRight }) => !isRight)).toEqual([]);
    expect(parse(yaml).contract.denials.quota_exceeded.message).toBe("for today");
    expect(await gateway.failures("proposed.yaml")).toEqual([]);
  });
});

describe("a proposal", () => {
  test("contains no wording for a gateway that follows the specification", { timeout: 120_000 }, async () => {
    await using gateway = await gatewayBehind({});
    const { yaml, requests } = await gateway.propose();
    expect(Object.keys(parse(yaml))).toEqual(["baseUrl", "keys", "limits", "limited", "models"]);
    expect(requests).toBeLessThanOrEqual(94);
  });

  test("declares the one dialect that is served, and is never written over a file", { timeout: 120_000 }, async () => {
    await using gateway = await gatewayBehind(without("messages"));
    const args = ["doctor", "--target", "t.yaml", "--propose"];
    const printed = await gateway.run(...args);
    expect(parse(printed.stdout)).toMatchObject({ dialects: ["chat"] });
    expect(printed.stdout).toMatch(/dialects: .*# every request to \/messages got 404/);
    expect((await gateway.run(...args, "--out", "p.yaml")).code).toBe(0);
    expect(parse(readFileSync(join(gateway.path, "p.yaml"), "utf8"))).toEqual(parse(printed.stdout));
    expect(await gateway.run(...args, "--out", "p.yaml")).toMatchObject({ code: 2 });
  });

  test("names a model that the list calls a chat model, however long its alphabet is", {
    timeout: 120_000,
  }, async () => {
    const others = ["a", "b", "c", "d", "e", "f", "g"].map((name) => ({ id: `azure/${name}`, mode: "embedding" }));
    const list = { object: "list", data: [...others, { id: "zz-none" }, { id: "shout-fast", mode: "chat" }] };
    await using gateway = await gatewayBehind({
      intercept: (path) =>
        path === "/models"
          ? { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(list) }
          : undefined,
    });
    const { yaml } = await gateway.propose();
    expect(parse(yaml).models).toMatchObject({ chat: "shout-fast", messages: "shout-fast" });
  });

  test("is in the file that init writes, if the key is in the environment", { timeout: 120_000 }, async () => {
    await using gateway = await gatewayBehind(ownHeader);
    const environment = { GW_KEY: gateway.key };
    const args = ["init", "--yes", "--base-url", gateway.baseUrl, "--limits", "6000:256", "--ci", "none"];
    const wrong = await gauntlet([...args, "--limits", "0:256"], environment, gateway.path);
    expect(wrong).toMatchObject({ code: 2 });
    expect(existsSync(join(gateway.path, "gauntlet.yaml"))).toBe(false);
    expect(await gauntlet(args, environment, gateway.path)).toMatchObject({ code: 0 });
    const file = parse(readFileSync(join(gateway.path, "gauntlet.yaml"), "utf8"));
    expect(file).toMatchObject({ headers: { reason: "x-gate-reason" }, limits: { rpm: 6000, inFlight: 256 } });
    expect(file.contract.denials.invalid_api_key).toEqual({ reason: "E_INVALID_API_KEY" });
  });
});

test("what a file says already stays, and evidence cannot leave its comment", () => {
  const lines = [
    { path: ["contract", "actionHint"], value: false, evidence: "a\nkeys: { valid: leaked }\u2028\u001b[2J" },
    { path: ["models", "chat"], value: "other", evidence: "served" },
  ];
  const text = withLines("models: { chat: mine } # by hand\n", lines, ["one\ntwo"]);
  expect(parse(text)).toEqual({ models: { chat: "mine" }, contract: { actionHint: false } });
  expect(text).toContain("by hand");
  expect(text).toContain("# one two\n");
  const file = "keys:\n  valid: env:K\n# models:\n#   chat: m\n";
  expect(withLines(file, lines.slice(0, 1), []).startsWith(file)).toBe(true);
});

test.each([
  [
    "what only these texts have",
    ["the key was blocked", "this key was blocked"],
    ["the key is unknown"],
    [],
    "was blocked",
  ],
  ["nothing that repeats the request", ["no model abc here"], ["no model here"], ["abc"], undefined],
  ["no id", ["budget of 1a2b3c4d5e6f7a8b and key-9f8e7d6c"], ["budget of nothing and all"], [], undefined],
  ["nothing, where the others say the same", ["not allowed"], ["this is not allowed"], [], undefined],
])("common words: %s", (_, texts, others, varying, expected) => {
  expect(commonWords(texts, others, varying)).toBe(expected);
});

test("a proposal names the profiles that fit what the gateway showed, as a comment", { timeout: 200_000 }, async () => {
  await using gateway = await gatewayBehind({});
  const { yaml } = await gateway.propose();
  expect(parse(yaml)).not.toHaveProperty("profiles");
  const chosen = parse(yaml.replace("# profiles: ", "profiles: "));
  // Nothing shows upstreams or several addresses.
  expect(chosen.profiles).toEqual([
    ...["chat", "messages", "models-and-auth", "denials", "limits", "money", "streaming", "http"],
    ...["openai-sdk", "anthropic-sdk"],
  ]);
});
