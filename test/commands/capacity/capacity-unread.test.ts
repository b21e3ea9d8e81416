// real-time: a search for capacity judges timing, which a busy machine prevents
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { rawServer } from "../../support/raw-server.ts";

const reply = (content: string) => {
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const body = gzipSync(
    JSON.stringify({ id: "x", object: "chat.completion", created: 1, model: "plain", choices, usage }),
  );
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
};
const SMALL = reply("hi");
/** Beyond what the load engine reads. */
const LARGE = reply("a".repeat(5 * 1024 * 1024));

/** Searches for the capacity of a gateway that sends one large reply in `every`. */
async function capacity(every: number) {
  await using server = await rawServer((socket, _request, count) => {
    socket.write(count % every === 0 ? LARGE : SMALL);
  });
  using folder = temporaryFolder();
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${server.origin}/v1\nkeys: { valid: env:K }\nmodels: { chat: plain }\nlimits: { rpm: 6000, inFlight: 64 }\n`,
  );
  const search = ["--objective", "failed < 1%", "--from", "5", "--to", "10", "--step-s", "3", "--minutes", "1"];
  const ran = await gauntlet(
    ["capacity", ...search, "--target", "t.yaml", "--json"],
    { K: "ck-unread-0123456789abcdef" },
    folder.path,
  );
  return { code: ran.code, found: JSON.parse(ran.stdout) };
}

test("a level is not held if some replies were too large to be checked", async () => {
  const { found } = await capacity(3);
  // Lower levels may not contain one: they send only a few requests.
  const [first] = found.steps;
  expect(first).toMatchObject({ level: 5, met: false, binds: "invalid replies" });
  expect(first.why).toMatch(/\d+ of \d+ replies were not checked: larger than 4 MiB/);
});

test("if all replies are, no level is held", async () => {
  const { code, found } = await capacity(1);
  expect(found.steps.length).toBeGreaterThan(0);
  for (const { met, binds, why } of found.steps) {
    expect({ met, binds }).toEqual({ met: false, binds: "invalid replies" });
    expect(why).toMatch(/\d+ of \d+ replies were not checked: larger than 4 MiB/);
  }
  expect(found.best).toBeFalsy();
  expect(code).not.toBe(0);
});

test("with small replies it is", async () => {
  const { found } = await capacity(Number.POSITIVE_INFINITY);
  // On a busy machine the generator may be the bottleneck.
  const binds = found.steps.map((step: { binds: string }) => step.binds);
  expect(binds.filter((one: string) => one !== "nothing" && one !== "generator")).toEqual([]);
});
