import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { rawServer, response } from "../../support/raw-server.ts";

const LIST = JSON.stringify({ object: "list", data: [{ id: "m" }] });
const REPLY = JSON.stringify({
  id: "c1",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const twoLengths = (body: string) => response(body, { headers: `content-length: ${body.length}\r\n` });

async function conform(respond: (isList: boolean) => string) {
  using folder = temporaryFolder();
  await using server = await rawServer((socket, request) => void socket.write(respond(request.startsWith("GET"))));
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${server.origin}/v1\nkeys: { valid: env:K }\nmodels: { chat: m }\ndialects: [chat]\n`,
  );
  const args = ["conform", "--only", "models.list", "--only", "robustness.framing", "--target", "t.yaml", "--json"];
  return await gauntlet(args, { K: "ck-malformed-0123456789" }, folder.path);
}

test("nothing but malformed responses: the message names the rule, and not TLS", async () => {
  const { code, stderr } = await conform((isList) => twoLengths(isList ? LIST : REPLY));
  expect(stderr).toContain("more than one Content-Length (RFC 9110, 8.6)");
  expect(stderr).not.toMatch(/TLS|no response from/);
  expect(code).toBe(3);
});

test("a malformed list fails HTTP-FRAMING although the replies are well-formed", async () => {
  const { code, stdout } = await conform((isList) => (isList ? twoLengths(LIST) : response(REPLY)));
  const { causes, checks } = JSON.parse(stdout) as {
    readonly causes: readonly { readonly title: string; readonly requirement: string }[];
    readonly checks: readonly { readonly id: string; readonly status: string; readonly violated: readonly string[] }[];
  };
  expect(checks.find(({ id }) => id === "robustness.framing")).toMatchObject({
    status: "fail",
    violated: ["HTTP-FRAMING"],
  });
  expect(causes).toMatchObject([
    { title: "malformed HTTP: more than one Content-Length (RFC 9110, 8.6)", requirement: "HTTP-FRAMING" },
  ]);
  expect(code).toBe(1);
});
