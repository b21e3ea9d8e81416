import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { commonWords } from "../../src/app/propose/propose-contract.ts";
import { withLines } from "../../src/app/propose/proposed-line.ts";
import { type FrontOptions, frontOf, type OwnAnswer, without } from "../support/front.ts";
import { gauntlet, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";

const KEYS = ["valid", "revoked", "empty", "capped", "childExhausted"] as const;

/** The reference gateway behind a front that words its refusals otherwise, and a plain target file for it. */
async function gatewayBehind(options: FrontOptions) {
  const folder = temporaryFolder();
  const gateway = startGauntlet(["gateway"]);
  const ready = JSON.parse((await gateway.printed("\n")).split("\n")[0] ?? "");
  const front = await frontOf(ready.baseUrl, options);
  const environment: Record<string, string> = Object.fromEntries(
    KEYS.map((name) => [`K_${name}`, ready.keys[name] as string]),
  );
  const keys = KEYS.map((name) => `  ${name}: env:K_${name}\n`).join("");
  const limited = (ready.limited as { key: string; limits: { rpm: number; inFlight: number } }[]).map(
    ({ key, limits: { rpm, inFlight } }, index) => {
      environment[`K_LIMITED_${index}`] = key;
      return `  - { key: env:K_LIMITED_${index}, limits: { rpm: ${rpm}, inFlight: ${inFlight} } }\n`;
    },
  );
  const file = `# what the operator knows\nbaseUrl: ${front.baseUrl}\nkeys:\n${keys}limits: { rpm: 6000, inFlight: 256 }\nlimited:\n${limited.join("")}models:\n  slow: slow\n`;
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
      const document = JSON.parse(stdout) as { yaml: string; requests: number };
      writeFileSync(join(folder.path, "proposed.yaml"), document.yaml);
      return document;
    },
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

/** A refusal without the headers of the specification. */
function bare({ headers }: OwnAnswer): Record<string, string> {
  const { "x-service-error-code": _, "x-service-action": __, ...others } = headers;
  return others;
}

const reasonOf = ({ headers }: OwnAnswer) => headers["x-service-error-code"];

/** In a header of its own, with words of its own. */
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

/** As LiteLLM does it: `error.type` is the only word, several denials share it, and another status for some. */
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
    // A header that only some denials have says less than a member that all of them have.
    const some = status === 429 ? { rate_limit_type: reason === "rate_limit_exceeded" ? "requests" : "parallel" } : {};
    return {
      status,
      headers: { ...bare(refusal), ...some, "content-type": "application/json" },
      body: JSON.stringify({ error }),
    };
  },
};

/** No word anywhere: a sentence. */
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
  ["a header of its own", ownHeader, { headers: { reason: "x-gate-reason" }, contract: { actionHint: false } }],
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
  ["a sentence", inText, { contract: { reasonFrom: "/error/message" } }],
] as const)("a gateway that says its reasons in %s", (_, options, expected) => {
  test("is proposed a target file by which nothing fails for its words", { timeout: 400_000 }, async () => {
    await using gateway = await gatewayBehind(options);
    expect((await gateway.failures("t.yaml")).length).toBeGreaterThan(3);
    const { yaml, requests } = await gateway.propose();
    // What is looked at, two windows of the lowest rate in each dialect, and what passes the limit of concurrency.
    expect(requests).toBeLessThanOrEqual(30 + 2 * 20 + 2 + 2 * 6);
    expect(parse(yaml)).toMatchObject({ ...expected, baseUrl: gateway.baseUrl, models: { chat: expect.any(String) } });
    expect(yaml).toContain("# what the operator knows");
    // Each line that was added says what speaks for it, and no key gets into the file.
    const proposed = yaml
      .split("\n")
      .filter((line) => /^ {2,4}(chat|messages|reasonFrom|actionHint|\w+_\w+): /.test(line));
    expect(proposed.length).toBeGreaterThan(5);
    expect(proposed.filter((line) => !line.includes(" # "))).toEqual([]);
    expect(yaml).not.toContain(gateway.key);
    expect(await gateway.failures("proposed.yaml")).toEqual([]);
  });
});

describe("a proposal", () => {
  test("for a gateway as specified says nothing of its words", { timeout: 120_000 }, async () => {
    await using gateway = await gatewayBehind({});
    const { yaml, requests } = await gateway.propose();
    expect(Object.keys(parse(yaml))).toEqual(["baseUrl", "keys", "limits", "limited", "models"]);
    expect(requests).toBeLessThanOrEqual(84);
  });

  test("declares the one dialect that is served, and is never written over a file", { timeout: 120_000 }, async () => {
    await using gateway = await gatewayBehind(without("messages"));
    const args = ["doctor", "--target", "t.yaml", "--propose"];
    const printed = await gateway.run(...args);
    expect(parse(printed.stdout)).toMatchObject({ dialects: ["chat"] });
    expect(printed.stdout).toMatch(/dialects: .*# every request to \/messages was answered 404/);
    expect((await gateway.run(...args, "--out", "p.yaml")).code).toBe(0);
    expect(parse(readFileSync(join(gateway.path, "p.yaml"), "utf8"))).toEqual(parse(printed.stdout));
    expect(await gateway.run(...args, "--out", "p.yaml")).toMatchObject({ code: 2 });
  });

  test("stands in the file that init writes, where the key is in the environment", { timeout: 120_000 }, async () => {
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
