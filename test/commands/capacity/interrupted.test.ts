// real-time: interrupts a search for capacity while requests are in flight
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fallingSilentAfter } from "../../support/falling-silent.ts";
import { startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";

test("requests that the interruption ended do not count as failures of the gateway", { timeout: 60_000 }, async () => {
  await using server = await fallingSilentAfter(30);
  using folder = temporaryFolder();
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${server.origin}/v1\nkeys: { valid: env:K }\nmodels: { chat: plain }\nlimits: { rpm: 6000, inFlight: 64 }\n`,
  );
  const search = ["--objective", "failed < 1%", "--from", "5", "--to", "10", "--step-s", "20", "--minutes", "1"];
  await using running = startGauntlet(
    ["capacity", ...search, "--target", "t.yaml", "--json"],
    { K: "ck-interrupted-0123456789abcdef" },
    folder.path,
  );
  expect(await running.printed("searching")).toContain("; no time to hold a level for 75 s\n");
  await server.untilUnserved(5);
  running.child.kill("SIGINT");
  const { code, stdout } = await running.finished;
  const found = JSON.parse(stdout);
  expect(code).toBe(130);
  expect(found).toMatchObject({ cut: "interrupted", steps: [], frontier: [] });
});
