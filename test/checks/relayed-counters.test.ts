// real-time: checks fill the limits of a minute and wait for Retry-After
import { expect, test } from "vitest";
import { conformTo, httpServer, targetOf } from "../support/judge.ts";

const SERVED = {
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** The result for counters that report another limit than the target file. @param remaining after this many replies. */
async function judged(remaining: (replies: number) => number, isOnList = false) {
  let replies = 0;
  await using server = await httpServer((request, _body, response) => {
    response.setHeader("Content-Type", "application/json");
    const isList = request.method === "GET";
    if (!isList || isOnList) {
      response.setHeader("X-RateLimit-Limit", "500");
      response.setHeader("X-RateLimit-Remaining", String(remaining(replies++)));
    }
    return response.end(JSON.stringify(isList ? { data: [{ id: "plain" }] } : SERVED));
  });
  const only = ["chat.minimal[plain]", "chat.minimal[fresh-connection]", "retry-after.rate-headers"];
  const results = await conformTo(targetOf(server.baseUrl), { suites: [], only });
  return results.find(({ id }) => id === "retry-after.rate-headers")?.status;
}

test("counters that a gateway relays from a provider are not taken for its own limit", async () => {
  expect(await judged(() => 499)).toBe("observed");
});

test("the gateway's own counters are", async () => {
  expect(await judged((replies) => 499 - replies)).toBe("warn");
  expect(await judged(() => 499, true)).toBe("warn");
});
