// real-time: checks fill the limits of a minute and wait for Retry-After
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { parseTarget } from "../../src/target/index.ts";
import { conformTo, httpServer, targetOf } from "../support/judge.ts";
import { judged, seen } from "../support/seen-response.ts";

const LIST = { object: "list", data: [{ id: "embed-small" }, { id: "plain" }] };
const NO_CHAT = { error: { message: "embed-small is not a chat model", type: "invalid_request_error" } };

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const reply = (content = "hello", finish = "stop"): Reply => ({
  body: {
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: finish }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
});
const denial = (status: number, reason: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { "X-Service-Error-Code": reason, ...headers },
  body: { error: { message: reason, type: "error", code: reason } },
});

/** A gateway of the chat dialect with scripted responses. */
const gateway = (respond: (model: string, request: IncomingMessage) => Reply) =>
  httpServer((request, body, response: ServerResponse) => {
    const model = body === "" ? "" : String((JSON.parse(body) as { model?: unknown }).model);
    const {
      status = 200,
      headers = {},
      body: sent,
    } = request.method === "GET" ? { body: LIST } : respond(model, request);
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(sent));
  });

/** What some checks report, by their ids. */
async function statuses(baseUrl: string, only: string[], more = "dialects: [chat]\n") {
  const results = await conformTo(targetOf(baseUrl, more), { only });
  return Object.fromEntries(
    results.map(({ id, status, message }) => [id, status === "pass" ? status : `${status}: ${message}`]),
  );
}

describe("other conformant gateways pass", () => {
  test("a single response to a large body that was lost with its connection is not a failure of the gateway", async () => {
    let large = 0;
    await using server = await httpServer((_request, body, response) => {
      if (body.length > 1_000_000 && ++large % 3 === 1) return response.socket?.resetAndDestroy();
      return response
        .writeHead(body.length > 1_000_000 ? 413 : 200, { "content-type": "application/json" })
        .end(JSON.stringify(reply().body));
    });
    const only = ["robustness.large-body[chat,4-MB]", "robustness.large-body[chat,16-MB-in-chunks]"];
    expect(Object.values(await statuses(server.baseUrl, only))).toEqual(["pass", "pass"]);
  });

  test("without a named model, one that cannot chat is not chosen", async () => {
    await using server = await gateway((model) => (model === "embed-small" ? { status: 400, body: NO_CHAT } : reply()));
    const target = parseTarget(
      `baseUrl: ${server.baseUrl}\nkeys: { valid: env:K }\ndialects: [chat]\nlimits: { rpm: 60000, inFlight: 256 }\n`,
      "t.yaml",
      { K: "sk-test-valid-0123456789abcdef" },
    );
    const results = await conformTo(target, { only: ["chat.minimal[plain]"] });
    expect(results.map(({ status, message }) => `${status}: ${message}`)).toEqual(
      results.map(() => expect.stringMatching(/^pass/)),
    );
  });

  test("a listed model of another kind with its own 404 is not unknown; one whose 404 says so is", async () => {
    const only = ["models.listed-ids-work"];
    const other = (own: Reply) => (model: string) =>
      model === "nobody" ? denial(404, "model_not_found") : model === "embed-small" ? own : reply();
    await using sound = await gateway(other({ status: 404, body: NO_CHAT }));
    expect(await statuses(sound.baseUrl, only)).toEqual({ [only[0] as string]: "pass" });
    await using wrong = await gateway(other(denial(404, "model_not_found")));
    expect(await statuses(wrong.baseUrl, only)).toEqual({ [only[0] as string]: expect.stringMatching(/^warn/) });
  });

  test("listed models prove nothing if none is served", async () => {
    await using down = await gateway(() => ({ status: 503, body: {} }));
    const { "models.listed-ids-work": said } = await statuses(down.baseUrl, ["models.listed-ids-work"]);
    expect(said).toMatch(/^inconclusive: no listed model was served/);
  });

  test("a reply whose model had no tokens left for text decides nothing; one without text for no reason fails", async () => {
    const id = "chat.minimal[plain]";
    await using thinking = await gateway(() => reply("", "length"));
    expect((await statuses(thinking.baseUrl, [id]))[id]).toMatch(/^inconclusive: a reply ended with length/);
    await using silent = await gateway(() => reply("", "stop"));
    expect((await statuses(silent.baseUrl, [id]))[id]).toMatch(/^fail/);
  });

  test("an empty balance with the status of a limit is named if the contract declares it", async () => {
    await using server = await gateway((_model, request) =>
      request.headers.authorization?.includes("sk-test-empty") === true ? denial(429, "insufficient_credits") : reply(),
    );
    const only = ["errors.insufficient-credits[chat,non-streaming]", "errors.denials-are-named"];
    const contract = "dialects: [chat]\ncontract: { denials: { insufficient_credits: { status: 429 } } }\n";
    expect((await statuses(server.baseUrl, only, contract))["errors.denials-are-named"]).toBe("pass");
    expect((await statuses(server.baseUrl, only))["errors.denials-are-named"]).toMatch(/^fail/);
  });

  test("an unknown model that meets the account's rate limit is requested again after the wait", async () => {
    let requested = 0;
    await using server = await gateway((model) =>
      model !== "nobody"
        ? reply()
        : ++requested === 1
          ? denial(429, "rate_limit_exceeded", { "Retry-After": "9" })
          : denial(404, "model_not_found"),
    );
    const only = ["errors.model-not-found[chat,non-streaming]"];
    expect((await statuses(server.baseUrl, only))[only[0] as string]).toMatch(/^(pass|warn)/);
  });
});

describe("interrupted streams", () => {
  const served = (count: number) =>
    Array.from({ length: count }, () => seen({ sentMs: 0, endMs: 5, mode: "streaming" }));
  const cut = (count: number, mode: "streaming" | "non-streaming" = "streaming") =>
    Array.from({ length: count }, () => seen({ sentMs: 0, endMs: 5, mode, isCut: true }));

  test("warn if they are one or few of many, and fail if they are more, or are non-streaming", () => {
    const status = (responses: readonly unknown[]) => judged("robustness.framing", responses).status;
    expect(status(served(400))).toBe("pass");
    expect(status([...served(30), ...cut(1)])).toBe("warn");
    expect(status([...served(400), ...cut(2)])).toBe("warn");
    expect(status([...served(30), ...cut(2)])).toBe("fail");
    expect(status([...served(400), ...cut(1, "non-streaming")])).toBe("fail");
  });
});
