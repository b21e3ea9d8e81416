import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { instancesOf } from "../../src/checks/index.ts";
import type { CheckResult } from "../../src/record/index.ts";
import { CHECKS, QUICK_INSTANCES } from "../../suites/index.ts";
import { killOf } from "./evaluate.ts";
import { judgeGateway } from "./judge-gateway.ts";
import type { Judgement } from "./judgement.ts";

const FILE = join(import.meta.dirname, "../../suites/quick-instances.ts");

/** What a quick run may send, with room for the preparation and the control requests that instances share. */
const MOST_REQUESTS = 630;
/** A check that takes longer by itself has no place in a run of seconds, ms; nor has one that everything else waits for. */
const LONGEST_MS = { beside: 13_000, exclusive: 1_000 };
/** A request costs as much as so many milliseconds of a check. */
const MS_PER_REQUEST = 25;
/** What an instance costs that sends nothing of its own: its place in a report. */
const LEAST_COST = 0.2;

interface Candidate {
  readonly id: string;
  readonly requests: number;
  readonly cost: number;
  readonly isInvariant: boolean;
  /** Mutations that it shows, in a requirement that they belong to. */
  readonly kills: ReadonlySet<string>;
}

/**
 * Chooses the instances of a quick run by greedy set cover: again and again the one that shows most further mutations for what it
 * costs, until a quick run may send no more. Instances that say nothing in a quick run of a sound gateway are left out.
 *
 * @param keepsChosen the instances that are chosen now stay: what the judgements know of is added to them.
 */
export async function chooseQuick(
  judgements: readonly Judgement[],
  { keepsChosen }: { readonly keepsChosen: boolean },
): Promise<readonly string[]> {
  const all = await candidatesOf(judgements);
  const kept = new Set(keepsChosen ? QUICK_INSTANCES : []);
  const candidates = all.filter(({ id, kills }) => kills.size > 0 || kept.has(id));
  // What looks at the whole run costs nothing and is always in. What it showed in a whole run it need not show in a quick one.
  const chosen = candidates.filter(({ id, isInvariant }) => isInvariant || kept.has(id));
  const covered = new Set(chosen.flatMap(({ isInvariant, kills }) => (isInvariant ? [] : [...kills])));
  for (;;) {
    const sent = chosen.reduce((sum, { requests }) => sum + requests, 0);
    const [best] = candidates
      .filter((candidate) => !chosen.includes(candidate) && sent + candidate.requests <= MOST_REQUESTS)
      .map((candidate) => ({ candidate, gain: gainOf(candidate, covered) }))
      .filter(({ gain }) => gain > 0)
      .sort((a, b) => b.gain / b.candidate.cost - a.gain / a.candidate.cost);
    if (best === undefined) break;
    chosen.push(best.candidate);
    for (const mutation of best.candidate.kills) covered.add(mutation);
  }
  const order = CHECKS.flatMap(instancesOf).map(({ id }) => id);
  const ids = chosen.map(({ id }) => id).sort((a, b) => order.indexOf(a) - order.indexOf(b));
  writeFileSync(FILE, source(ids));
  const shown = new Set(candidates.flatMap(({ kills }) => [...kills]));
  const open = [...shown].filter((mutation) => !covered.has(mutation));
  console.log(
    `chosen: ${ids.length} of ${candidates.length} instances, which showed ${covered.size} of ${shown.size} mutations`,
  );
  if (open.length > 0) console.log(`left out, or left to what looks at the whole run: ${open.join(", ")}`);
  return ids;
}

const gainOf = ({ kills }: Candidate, covered: ReadonlySet<string>): number =>
  [...kills].filter((mutation) => !covered.has(mutation)).length;

/** Instances that passed in a quick run of a sound gateway, with what they cost there and what they showed. */
async function candidatesOf(judgements: readonly Judgement[]): Promise<Candidate[]> {
  const kills = new Map<string, Set<string>>();
  for (const judgement of judgements)
    for (const instance of Object.keys(killOf(judgement).killers))
      kills.set(instance, (kills.get(instance) ?? new Set()).add(judgement.name));
  const { results } = await judgeGateway({ instances: CHECKS.flatMap(instancesOf), isQuick: true });
  const counted = new Set<string>();
  // Whichever of its checks comes first runs a scenario: its time is that of all.
  const longestOf = (result: CheckResult) => {
    const schedule = sendingCheckOf(result)?.schedule;
    const order = typeof schedule === "object" ? schedule.order : undefined;
    return order?.startsWith("exclusive") === true ? LONGEST_MS.exclusive : LONGEST_MS.beside;
  };
  const tooLong = new Set(results.filter((one) => one.durationMs > longestOf(one)).map(scenarioOf));
  return results
    .filter((result) => result.status === "pass" && !tooLong.has(scenarioOf(result)))
    .map(({ id, exchanges, durationMs }) => {
      // The traffic of a scenario counts once, for the first of its checks.
      const requests = exchanges.filter((exchange) => !counted.has(exchange)).length;
      for (const exchange of exchanges) counted.add(exchange);
      const isInvariant = CHECKS.some((check) => check.kind === "invariant" && check.id === id);
      const own = isInvariant ? 0 : requests;
      return {
        id,
        requests: own,
        isInvariant,
        cost: LEAST_COST + own + durationMs / MS_PER_REQUEST,
        kills: kills.get(id) ?? new Set<string>(),
      };
    });
}

/** The scenario that an instance judges together with others; its own id where it judges none. */
function scenarioOf(result: CheckResult): string {
  return sendingCheckOf(result)?.scenario ?? result.id;
}

/** The check of a result; `undefined` where it sends nothing. */
function sendingCheckOf({ check: name }: CheckResult) {
  const check = CHECKS.find(({ id }) => id === name);
  return check?.kind === "sending" ? check : undefined;
}

function source(ids: readonly string[]): string {
  return `// Written by \`npm run verify:quick -- --choose\`: do not edit.

/** Instances of a quick run: the few that show most mutations of the reference gateway for what they cost. */
export const QUICK_INSTANCES: readonly string[] = [
${ids.map((id) => `  ${JSON.stringify(id)},`).join("\n")}
];
`;
}
