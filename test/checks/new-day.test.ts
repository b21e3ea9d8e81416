import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/index.ts";
import { conformTo, httpServer, targetOf } from "../support/judge.ts";

const reply = {
  id: "c1",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { content: "Hello." } }],
};

/** Results of a gateway that serves the capped key, in a run that begins at this time of a day. */
async function judgedAt(time: string) {
  await using server = await httpServer((request, _body, response) => {
    const isList = request.url?.endsWith("/models") ?? false;
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify(isList ? { object: "list", data: [{ id: "m" }] } : reply));
  });
  const models = { chat: { plain: "m" }, messages: {} };
  const offsetMs = Date.parse(`2026-11-28T${time}Z`) - Date.now();
  const clock = { ...systemClock, nowMs: () => Date.now() + offsetMs };
  const only = ["errors.quota-exceeded[chat,non-streaming]", "errors.denied-in-every-form[capped]"];
  return await conformTo({ ...targetOf(server.baseUrl), models, dialects: ["chat"] }, { only }, clock);
}

describe("a key at its daily cap that is served", () => {
  test("is a failure", async () => {
    const results = await judgedAt("12:00:00");
    expect(results.map(({ status }) => status)).toEqual(results.map(() => "fail"));
  });

  test.each(["23:59:30", "00:01:00"])(
    "is inconclusive if the day may have begun during the run (clocks may differ): started at %s",
    async (time) => {
      const results = await judgedAt(time);
      expect(results.length).toBeGreaterThan(0);
      for (const { id, status, message } of results)
        expect({ id, status, message }).toMatchObject({
          status: "inconclusive",
          message: expect.stringContaining("daily caps reset at 00:00 UTC, which may have fallen within this run"),
        });
    },
  );
});
