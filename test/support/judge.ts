import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { RequestBudget } from "../../src/budget/index.ts";
import { runChecks, type Selection, select, Traffic } from "../../src/checks/index.ts";
import type { Clock } from "../../src/core/index.ts";
import type { CheckResult } from "../../src/record/index.ts";
import { prepare } from "../../src/run/preflight/preflight.ts";
import { parseTarget, type Target } from "../../src/target/index.ts";
import { CHECKS } from "../../suites/index.ts";
import { listening } from "./listening.ts";

export interface TestServer extends AsyncDisposable {
  readonly baseUrl: string;
}

/** A test's own HTTP server. */
export async function httpServer(
  respond: (request: IncomingMessage, body: string, response: ServerResponse) => unknown,
): Promise<TestServer> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    await respond(request, Buffer.concat(chunks).toString("utf8"), response);
  });
  const open = await listening(server, () => server.closeAllConnections());
  return { ...open, baseUrl: `${open.origin}/v1` };
}

/** A target of a test server with keys in every state. */
export function targetOf(baseUrl: string, more = ""): Target {
  const names = ["valid", "second", "revoked", "capped", "childExhausted", "empty", "emptySecond"];
  const keys = names.map((name) => `  ${name}: env:K_${name}`).join("\n");
  const text = `baseUrl: ${baseUrl}\nkeys:\n${keys}\nmodels: { chat: plain, messages: plain, unknown: nobody }\nlimits: { rpm: 60000, inFlight: 256 }\n${more}`;
  return parseTarget(
    text,
    "test.yaml",
    Object.fromEntries(names.map((name) => [`K_${name}`, `sk-test-${name}-0123456789abcdef`])),
  );
}

/** Runs a selection of the suites against a target. */
export async function conformTo(target: Target, selection: Selection, clock?: Clock): Promise<CheckResult[]> {
  const controller = new AbortController();
  await using traffic = new Traffic({
    target,
    budget: new RequestBudget(target.budget),
    seed: 1,
    signal: controller.signal,
    ...(clock === undefined ? {} : { clock }),
  });
  await prepare(traffic);
  return await runChecks({ instances: select(CHECKS, selection), traffic });
}

/** A budget that no test uses up. */
export function ampleBudget(): RequestBudget {
  return new RequestBudget({ requests: 100_000, outputTokens: 10_000_000 });
}
