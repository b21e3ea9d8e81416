import { describeObserved } from "../../../reports/text/index.ts";
import { groupBy } from "../../../src/core/index.ts";
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

/**
 * One page with two tables: a row for each check of the suite replicas and each expectation of an event, and one for each check of
 * the bill and of what providers see.
 */
export function disturbancePage(gateways: readonly DisturbedGateway[]): string {
  const [billed, disturbed] = [gateways.filter(isBilled), gateways.filter((one) => !isBilled(one))];
  const command = `npm run verify gateways -- ${gateways.map(({ name }) => name).join(" ")} --write`;
  return `# Replicas, disturbances and bills of real gateways

Written by \`${command}\`.
✓ holds, ✗ does not hold, ? was not decided. [Real gateways](../real-gateways.md#replicas-and-disturbances) explains each ✗, and how to
reproduce it by hand.

## Replicas and disturbances

The suite \`replicas\`, and the workloads with events ([disturbances](../disturbance.md)).

${table(disturbed, cellsOf)}
## Bills, and what providers see

The suites \`ledger\` and \`upstream\`, with a provider of \`gauntlet upstream\` behind the gateway.

${table(billed, billCellsOf)}`;
}

const isBilled = ({ checks }: DisturbedGateway): boolean => checks.has("ledger");

type Cells = ReadonlyMap<string, string>;

function table(gateways: readonly DisturbedGateway[], cellsOf: (gateway: DisturbedGateway) => Cells): string {
  const cells = gateways.map(cellsOf);
  const rows = [...new Set(cells.flatMap((own) => [...own.keys()]))];
  const row = (texts: readonly string[]) => `| ${texts.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |\n`;
  return [
    row(["", ...gateways.map(({ title }) => title)]),
    row(["---", ...gateways.map(() => "---")]),
    ...rows.map((name) => row([`\`${name}\``, ...cells.map((own) => own.get(name) ?? "")])),
  ].join("");
}

/** Each check or expectation, in a few words. */
function cellsOf({ checks }: DisturbedGateway): Cells {
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

/** Each check of the two suites, over all of its instances. */
function billCellsOf({ checks }: DisturbedGateway): Cells {
  const results = ["ledger", "upstream"].flatMap((run) => checks.get(run) ?? []);
  return new Map([...groupBy(results, ({ check }) => check)].map(([check, own]) => [check, allInOne(own)]));
}

function allInOne(results: readonly CheckResult[]): string {
  const applied = results.filter(({ status }) => status !== "not-applicable");
  const [first] = applied;
  if (first === undefined) return "not applicable";
  const broken = applied.filter(({ status }) => status === "fail" || status === "warn");
  const [worst] = broken;
  if (worst !== undefined)
    return applied.length === 1 ? textOf(worst) : `✗ ${broken.length} of ${applied.length}: ${worst.message}`;
  const open = applied.find(({ status }) => status !== "pass");
  if (open !== undefined) return open.status === "observed" ? open.message : textOf(open);
  return textOf(first);
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
