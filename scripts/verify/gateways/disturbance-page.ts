import { describeObserved } from "../../../reports/text/index.ts";
import type { CheckResult, Finding } from "../../../src/record/index.ts";
import type { GatewayRun } from "./gateway.ts";

/** What was run on one gateway. */
export interface DisturbedGateway {
  readonly name: string;
  readonly title: string;
  /** By the name of the run. */
  readonly checks: ReadonlyMap<GatewayRun["name"], readonly CheckResult[]>;
}

const MARKS = { met: "✓", broken: "✗", undecided: "?", observed: "" } as const;

/** One page with one table: a row for each check of the suite replicas, and for each expectation of an event. */
export function disturbancePage(gateways: readonly DisturbedGateway[]): string {
  const cells = gateways.map(cellsOf);
  const rows = [...new Set(cells.flatMap((own) => [...own.keys()]))];
  const command = `npm run verify gateways -- ${gateways.map(({ name }) => name).join(" ")} --write`;
  const row = (texts: readonly string[]) => `| ${texts.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`;
  return `# Replicas and disturbances of real gateways

Written by \`${command}\`: the suite \`replicas\`, and the workloads with events
([disturbances](../disturbance.md)). ✓ holds, ✗ does not hold, ? was not decided. [Real gateways](../real-gateways.md#replicas-and-disturbances)
explains each ✗, and how to reproduce it by hand.

${row(["", ...gateways.map(({ title }) => title)])}
${row(["---", ...gateways.map(() => "---")])}
${rows.map((name) => row([`\`${name}\``, ...cells.map((own) => own.get(name) ?? "")])).join("\n")}
`;
}

/** Each check or expectation, in a few words. */
function cellsOf({ checks }: DisturbedGateway): ReadonlyMap<string, string> {
  const cells = new Map<string, string>();
  for (const [run, results] of checks)
    for (const result of results) {
      if (run === "replicas" && result.check.startsWith("replicas.")) cells.set(result.id, textOf(result));
      if (!result.id.endsWith(".events")) continue;
      for (const { name = "", outcome, observed, reason } of result.findings ?? [])
        if (/^event\..+\./.test(name) && !name.endsWith(".after"))
          cells.set(
            `${run}: ${name.split(".").slice(2).join(".")}`,
            `${MARKS[outcome]} ${reason === undefined ? withoutKinds(observedText(observed)) : "too busy, or too few requests"}`,
          );
    }
  return cells;
}

function textOf({ status, message }: CheckResult): string {
  if (status === "pass") return "✓";
  if (status === "not-applicable") return "not applicable";
  return status === "fail" || status === "warn" ? `✗ ${message}` : `? ${status}`;
}

function observedText(observed: Finding["observed"]): string {
  return observed.kind === "value" && typeof observed.value === "string" ? observed.value : describeObserved(observed);
}

/** `84 of 146 requests failed (57.5 %)`, without the list of kinds. */
const withoutKinds = (observed: string) => observed.replace(/: .*$/, "");
