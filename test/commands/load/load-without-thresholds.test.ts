// real-time: sends load, and judges how much of it was served in time
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { RequestBudget } from "../../../src/budget/index.ts";
import { runBlock } from "../../../src/commands/compare/run-block.ts";
import { Redactor } from "../../../src/http/recorder/index.ts";
import { loadWorkload } from "../../../src/load/index.ts";
import { startGateway } from "../../../src/reference-gateway/index.ts";
import { describeEmbedded, type ReadyLine } from "../../../src/target/index.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

/** A load of 60 requests, which its threshold would end after 4 s. */
const WORKLOAD = `name: w
arrivals: { kind: constant, ratePerS: 10, durationS: 6 }
mix: [{ dialect: chat, stream: false, model: echo-fast, promptTokens: 5, maxTokens: 16 }]
thresholds: [{ threshold: "sent < 1", abortOnFail: true }]
`;

describe.concurrent("a load that serves another purpose is not ended by the thresholds of its workload", () => {
  test("a block of a comparison", { timeout: 30_000 }, async () => {
    await using gateway = await startGateway({ limits: { rpm: 60_000, inFlight: 500 } });
    const { target } = describeEmbedded(gateway.ready as unknown as ReadyLine);
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "w.yaml"), WORKLOAD);
    const never = new AbortController().signal;
    const block = await runBlock({
      workload: loadWorkload(join(folder.path, "w.yaml")),
      ...{ target, budget: new RequestBudget(target.budget), redactor: new Redactor([]) },
      ...{ seed: 1, stop: never, abort: never, onProgress: undefined },
    });
    expect(block.sent).toBe(60);
  });

  test("the run of size --verify", { timeout: 30_000 }, async () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "w.yaml"), WORKLOAD);
    const { stdout, stderr } = await gauntlet(
      ["size", "w.yaml", "--verify", "--target", "embedded", "--json"],
      {},
      folder.path,
    );
    expect(JSON.parse(stdout), stderr).toMatchObject({ verified: { requests: 60 } });
  });
});
