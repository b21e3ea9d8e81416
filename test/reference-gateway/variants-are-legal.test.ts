// real-time: checks fill the limits of a minute and wait for Retry-After
import { describe, expect, test } from "vitest";
import { VARIANTS, type Variant } from "../../src/reference-gateway/index.ts";
import { type Reply, textOf } from "./support/client.ts";
import { startFixture } from "./support/gateway-fixture.ts";
import { anyText } from "./support/lenient-stream.ts";

const TEXT = 'Größe 東京 🚀 end\n\n"quoted" <b>&amp;</b> \\ tab\t two';

const row = (reply: Reply, contract: Variant["contract"]) => {
  const { status, headers } = reply;
  const reason = Object.entries(contract?.denials ?? {}).find(([, { message = "" }]) =>
    typeof message === "string"
      ? textOf(reply).includes(message)
      : new RegExp(message.pattern).test(JSON.parse(textOf(reply)).error.message),
  )?.[0];
  return `${status} ${contract === undefined ? headers["x-service-error-code"] : reason}`;
};

describe.each(VARIANTS)("$name", ({ name, contract }) => {
  test("says what the interface says", async () => {
    await using fixture = await startFixture({ variants: [name] });
    const { keys } = fixture.ready;
    const says = { messages: [{ role: "user", content: TEXT }] };
    const headers = { "anthropic-version": "2023-06-01" };
    const denials = [
      ["gk-unknown-key", "401 invalid_api_key"],
      [keys.revoked, "401 key_revoked"],
      [keys.empty, "402 insufficient_credits"],
      [keys.capped, "402 quota_exceeded"],
      [keys.childExhausted, "429 budget_exhausted"],
    ] as const;
    const checks: Promise<void>[] = [];
    const check = async (reply: Promise<Reply>, judge: (reply: Reply) => void) => judge(await reply);
    const isRequirement = (expected: string) => (reply: Reply) => expect(row(reply, contract)).toBe(expected);
    const echoes = (reply: Reply) =>
      expect([reply.status, reply.end, anyText(textOf(reply))]).toEqual([200, "complete", TEXT]);

    checks.push(
      check(fixture.send({ path: "/models" }), (reply) =>
        expect(JSON.parse(textOf(reply)).data).toContainEqual(expect.objectContaining({ id: "echo-fast" })),
      ),
      check(fixture.send({ path: "/models", key: "" }), isRequirement("401 invalid_api_key")),
      check(fixture.send({ path: "/nothing" }), (reply) => expect(reply.status).toBe(404)),
      check(fixture.send({ path: "/chat/completions", body: '{"model":' }), (reply) =>
        expect([400, 422]).toContain(reply.status),
      ),
    );
    for (const stream of [false, true]) {
      checks.push(
        check(fixture.chat({ ...says, stream }), echoes),
        check(fixture.chat({ stream, model: "no-such-model" }), isRequirement("404 model_not_found")),
        check(fixture.chat({ stream, model: "fail-500" }), (reply) => expect(reply.status).toBeGreaterThanOrEqual(500)),
        ...denials.map(([key, expected]) => check(fixture.chat({ stream }, { key }), isRequirement(expected))),
      );
      // The specification does not show streaming on this endpoint, so a gateway may refuse it altogether.
      if (stream && name === "messages.stream-refused") continue;
      checks.push(
        check(fixture.messages({ ...says, stream }, { headers }), echoes),
        ...denials.map(([key, expected]) =>
          check(fixture.messages({ stream }, { key, headers }), isRequirement(expected)),
        ),
      );
    }
    await Promise.all(checks);
  });
});
