import { describe, expect, test } from "vitest";
import { describeContract } from "../../../src/checks/index.ts";
import { readAs } from "../../../src/judging/index.ts";
import { conformTo, httpServer, targetOf } from "../../support/judge.ts";

/** A gateway with custom names for everything: its keys are `sk-test-…`, its reasons are in the body. */
function gatewayMessage(status: number, type: string, message: string) {
  return { status, body: JSON.stringify({ error: { message, type, param: null, code: String(status) } }) };
}

const CONTRACT = `
contract:
  reasonFrom: /error/type
  actionHint: false
  denials:
    invalid_api_key: { reason: [token_not_found, no_token] }
    model_not_found: { status: 400, reason: invalid_request_error }
    quota_exceeded: { status: 422, reason: budget_exceeded, message: per day }
    budget_exhausted: { status: 422, reason: budget_exceeded }
`;

/** The same gateway, recognised by its texts alone: it names no reason where the specification has one. */
const BY_TEXT = `
contract:
  actionHint: false
  denials:
    invalid_api_key: { message: [unknown key, { pattern: "^no key$" }] }
    model_not_found: { status: 400, message: unknown model }
    quota_exceeded: { status: 422, message: "budget per day exceeded" }
    budget_exhausted: { status: 422, message: { pattern: "^budget exceeded$" } }
`;

const server = () =>
  httpServer((request, body, response) => {
    const key = /^Bearer sk-test-(\w+?)-0123456789abcdef$/.exec(request.headers.authorization ?? "")?.[1];
    const model = body === "" ? "plain" : String((JSON.parse(body) as { model?: unknown }).model);
    const { status, body: text } =
      request.headers.authorization === undefined
        ? gatewayMessage(401, "no_token", "no key")
        : key === undefined || key === "revoked"
          ? gatewayMessage(401, "token_not_found", "unknown key")
          : key === "capped"
            ? gatewayMessage(422, "budget_exceeded", "budget per day exceeded")
            : key === "childExhausted"
              ? gatewayMessage(422, "budget_exceeded", "budget exceeded")
              : model === "nobody"
                ? gatewayMessage(400, "invalid_request_error", "unknown model")
                : {
                    status: 200,
                    body: JSON.stringify(
                      request.url?.endsWith("/models") === true
                        ? { object: "list", data: [{ id: "plain", object: "model" }] }
                        : {
                            choices: [
                              { index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" },
                            ],
                            usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
                          },
                    ),
                  };
    response.writeHead(status, { "content-type": "application/json" }).end(text);
  });

describe("a gateway with its own wording of denials", () => {
  const only = [
    "auth.unknown-key[chat]",
    "auth.missing-key[chat]",
    "errors.model-not-found[chat,non-streaming]",
    "errors.quota-exceeded[chat,non-streaming]",
    "errors.budget-exhausted[chat,non-streaming]",
  ];
  const statuses = async (more: string) => {
    await using gateway = await server();
    const results = await conformTo(targetOf(gateway.baseUrl, more), { only });
    return Object.fromEntries(results.map(({ id, status, message }) => [id, { status, message }]));
  };

  const all = (status: string) => Object.fromEntries(only.map((id) => [id, expect.objectContaining({ status })]));

  test("fails by the specification's words and passes by its contract's", async () => {
    expect(await statuses("")).toEqual(all("fail"));
    // The 402 in the specification has a number as its code, and this gateway a text: a warning, and not part of the contract.
    const warned = { "errors.quota-exceeded[chat,non-streaming]": expect.objectContaining({ status: "warn" }) };
    expect(await statuses(CONTRACT)).toEqual({ ...all("pass"), ...warned });
  });

  test("passes by its texts, if these distinguish its denials", async () => {
    const warned = { "errors.quota-exceeded[chat,non-streaming]": expect.objectContaining({ status: "warn" }) };
    expect(await statuses(BY_TEXT)).toEqual({ ...all("pass"), ...warned });
  });

  test("fails if its texts differ from the contract's", async () => {
    const swapped = BY_TEXT.replace("budget per day exceeded", "budget per month").replace("^no key$", "^key missing$");
    expect(await statuses(swapped)).toMatchObject({
      "auth.unknown-key[chat]": { status: "pass" },
      "auth.missing-key[chat]": { status: "fail", message: expect.stringContaining('expected "invalid_api_key"') },
      "errors.quota-exceeded[chat,non-streaming]": { status: "fail" },
      "errors.budget-exhausted[chat,non-streaming]": { status: "pass" },
    });
  });

  test("fails if it does not follow its own contract either", async () => {
    const other = CONTRACT.replace("status: 400", "status: 410").replace("[token_not_found, no_token]", "no_token");
    expect(await statuses(other)).toMatchObject({
      "auth.unknown-key[chat]": { status: "fail", message: expect.stringContaining('"token_not_found"') },
      "errors.model-not-found[chat,non-streaming]": {
        status: "fail",
        message: expect.stringContaining("expected 410"),
      },
      "auth.missing-key[chat]": { status: "pass" },
    });
  });
});

test("denials that look alike are read as the first of them; a message distinguishes them", () => {
  const target = (denials: string) =>
    targetOf("http://127.0.0.1:1/v1", `contract: { reasonFrom: /error/type, denials: ${denials} }`);
  const alike = "{ quota_exceeded: { status: 422, reason: b }, budget_exhausted: { status: 422, reason: b } }";
  const apart =
    "{ quota_exceeded: { status: 422, reason: b, message: day }, budget_exhausted: { status: 422, reason: b } }";
  expect(readAs(target(alike).contract, "budget_exhausted")).toBe("quota_exceeded");
  expect(readAs(target(apart).contract, "budget_exhausted")).toBe("budget_exhausted");
  expect(readAs(targetOf("http://127.0.0.1:1/v1").contract, "budget_exhausted")).toBe("budget_exhausted");
});

test("everything that a target expresses in its own way is described in words", () => {
  expect(describeContract(targetOf("http://127.0.0.1:1/v1"))).toEqual([]);
  expect(
    describeContract(targetOf("http://127.0.0.1:1/v1", `${CONTRACT}headers: { reason: X-Why, action: X-Do }\n`)),
  ).toEqual([
    "reasons at /error/type",
    "reasons in X-Why",
    "action hints in X-Do",
    "no action hints",
    "invalid_api_key as token_not_found or no_token",
    "model_not_found as 400 invalid_request_error",
    'quota_exceeded as 422 budget_exceeded "per day"',
    "budget_exhausted as 422 budget_exceeded",
  ]);
  expect(describeContract(targetOf("http://127.0.0.1:1/v1", BY_TEXT))).toEqual([
    "no action hints",
    'invalid_api_key as "unknown key" or /^no key$/',
    'model_not_found as 400 "unknown model"',
    'quota_exceeded as 422 "budget per day exceeded"',
    "budget_exhausted as 422 /^budget exceeded$/",
  ]);
});
