import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startGateway } from "../../src/reference-gateway/index.ts";
import { countingProxy } from "./counting-proxy.ts";
import { gauntlet, temporaryFolder } from "./gauntlet.ts";

const WORKLOADS: Readonly<Record<string, string>> = {
  "even.yaml": "name: even\narrivals: { kind: constant, ratePerS: 50, durationS: 2 }\n",
  "closed.yaml": "name: closed\narrivals: { kind: closed, inFlight: 2, durationS: 2 }\n",
  "retries.yaml":
    "name: retries\narrivals: { kind: constant, ratePerS: 40, durationS: 2 }\nretryAfter: compliant\nallow: { deniedShare: 1 }\n",
};

/** The bound in the line of a plan, or in the line of a search, which is planned by its budget. */
const PLAN = /plan for [^\n]*?: at most ([\d,]+) requests?|searching [^\n]*\(budget: ([\d,]+) requests?\)/g;

function plannedBy([, plan, budget]: RegExpMatchArray): number {
  return Number((plan ?? budget ?? "").replaceAll(",", ""));
}

/** The bound in a printed plan. */
export function plannedIn(text: string): number | undefined {
  return [...text.matchAll(PLAN)].map(plannedBy)[0];
}

/** Runs a command against a gateway behind a proxy that counts requests. @param budget of the target file; default: none. */
export async function counted(args: readonly string[], budget?: number) {
  using folder = temporaryFolder();
  await using gateway = await startGateway({ limits: { rpm: 60_000, inFlight: 64 } });
  await using proxy = await countingProxy(gateway.ready.baseUrl);
  const { keys, limited } = gateway.ready;
  const [account] = limited;
  const lines = [
    `baseUrl: ${proxy.origin}/v1`,
    "keys: { valid: env:K, second: env:K2 }",
    "models: { chat: echo-fast, messages: echo-fast, stream: echo-stream }",
    "limits: { rpm: 60000, inFlight: 64 }",
    `limited: [{ key: env:L, limits: { rpm: ${account?.limits.rpm}, inFlight: ${account?.limits.inFlight} } }]`,
    ...(budget === undefined ? [] : [`budget: { requests: ${budget} }`]),
  ];
  writeFileSync(join(folder.path, "t.yaml"), `${lines.join("\n")}\n`);
  for (const [name, text] of Object.entries(WORKLOADS)) writeFileSync(join(folder.path, name), text);
  const environment = { K: keys.valid, K2: keys.second ?? "", L: account?.key ?? "" };
  const ran = await gauntlet(args, environment, folder.path);
  // A command with several targets, such as the builds of a comparison, prints a plan for each.
  const plans = [...ran.stderr.matchAll(PLAN)].map(plannedBy);
  return { ...ran, sent: proxy.all.length, planned: plans.reduce((sum, count) => sum + count, 0), plans };
}
