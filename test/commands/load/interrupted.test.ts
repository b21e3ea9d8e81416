// real-time: interrupts loads while requests are in flight
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fallingSilentAfter } from "../../support/falling-silent.ts";
import { startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";

test.each([
  ["an open loop", "{ kind: constant, ratePerS: 20, durationS: 60 }", []],
  ["a closed loop", "{ kind: closed, inFlight: 6, durationS: 60 }", []],
  ["two threads", "{ kind: constant, ratePerS: 20, durationS: 60 }", ["--workers", "2"]],
])(
  "interrupted requests do not count as failures of the gateway: %s",
  async (_what, arrivals, options) => {
    await using server = await fallingSilentAfter(30);
    using folder = temporaryFolder();
    writeFileSync(
      join(folder.path, "t.yaml"),
      `baseUrl: ${server.origin}/v1\nkeys: { valid: env:K }\nmodels: { chat: plain }\n`,
    );
    writeFileSync(
      join(folder.path, "w.yaml"),
      `name: w\narrivals: ${arrivals}\nmix: [{ dialect: chat, stream: false, maxTokens: 16 }]\nthresholds: ["failed < 2 %"]\n`,
    );
    await using running = startGauntlet(
      ["load", "w.yaml", "--target", "t.yaml", "--json", ...options],
      { K: "ck-interrupted-0123456789abcdef" },
      folder.path,
    );
    await server.untilUnserved(5);
    running.child.kill("SIGINT");
    const { code, stdout } = await running.finished;
    const { verdict, phases } = JSON.parse(stdout);
    expect(code).toBe(130);
    expect(verdict).toBe("inconclusive");
    const [{ offered, admitted, denied, failed, invalid, dropped }] = phases;
    expect(admitted).toBeGreaterThan(0);
    expect({ failed, denied, invalid, dropped, offered }).toEqual({
      ...{ failed: 0, denied: 0, invalid: 0, dropped: 0 },
      offered: admitted,
    });
  },
  60_000,
);
