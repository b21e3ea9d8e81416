// real-time: sends load, and judges how much of it was served in time
import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { selfSigned } from "../../support/certificate.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { listening } from "../../support/listening.ts";

const COMMANDS: readonly (readonly string[])[] = [
  ["load", "w.yaml"],
  ["load", "own"],
  ["load", "peak"],
  ["size", "w.yaml", "--verify"],
  ["capacity", "--objective", "failed < 1%"],
  ["limits"],
  ["conform", "models"],
];

async function against(baseUrl: string, args: readonly string[], folder: string) {
  writeFileSync(
    join(folder, "t.yaml"),
    `baseUrl: ${baseUrl}\nkeys: { valid: env:K }\nmodels: { chat: plain, messages: plain }\nlimits: { rpm: 600, inFlight: 8 }\n`,
  );
  writeFileSync(join(folder, "w.yaml"), "name: w\narrivals: { kind: constant, ratePerS: 10, durationS: 2 }\n");
  return gauntlet([...args, "--target", "t.yaml"], { K: "ck-nobody-0123456789" }, folder);
}

describe.concurrent("a target that cannot be reached is not a result of a load", () => {
  test.each(COMMANDS.map((args) => [args] as const))("%j: nothing listens", async (args) => {
    using folder = temporaryFolder();
    const { code, stderr } = await against("http://127.0.0.1:9/v1", args, folder.path);
    expect(stderr).toContain(
      "no response from http://127.0.0.1:9/v1: connection refused, no server listens on this port",
    );
    expect(code).toBe(3);
  });

  test.each(COMMANDS.map((args) => [args] as const))("%j: a certificate of a private authority", async (args) => {
    using folder = temporaryFolder();
    const { key, cert } = selfSigned(folder.path);
    const server = createServer({ key, cert }, (_, response) => response.end());
    await using open = await listening(server, () => server.closeAllConnections());
    const address = open.origin.replace("http:", "https:");
    const { code, stderr } = await against(`${address}/v1`, args, folder.path);
    expect(stderr).toMatch(/authority that is not known here\n {2}Start with NODE_EXTRA_CA_CERTS/);
    expect(code).toBe(3);
  });
});
