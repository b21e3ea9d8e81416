import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Instance, instancesOf } from "../../src/checks/index.ts";
import { groupBy } from "../../src/core/index.ts";
import type { CheckResult } from "../../src/record/index.ts";
import { MUTATIONS } from "../../src/reference-gateway/index.ts";
import { CHECKS, QUICK_INSTANCES } from "../../suites/index.ts";
import { cover } from "./cover.ts";
import { killOf } from "./evaluate.ts";
import { judgeGateway } from "./judge-gateway.ts";
import { judgeInWorkers } from "./judge-in-workers.ts";

const FILE = join(import.meta.dirname, "../../suites/quick-instances.ts");
const INSTANCES = CHECKS.flatMap(instancesOf);

/** What its units may send by themselves; together they share control requests, so that a quick run sends 55 fewer. */
const MAX_REQUESTS = 845;
/** A unit that sends more than this has no place in a quick run. */
const MAX_OF_ONE = 130;
/** What takes longer by itself has no place in a run of seconds, ms; nor has what everything else waits for. */
const MAX_MS = { beside: 14_000, exclusive: 500 };
/** All that everything else waits for, together, ms. */
const MAX_EXCLUSIVE_MS = 500;

/** Gateways that are judged at once to see what a unit costs; they wait most of the time. */
const AT_ONCE = 8;

/** What is run together or not at all: the checks of one scenario, or one instance. */
interface Unit {
  readonly ids: readonly string[];
  readonly requests: number;
  readonly exclusiveMs: number;
  /** Looks at the traffic of the whole run: sends nothing of its own, and is always in. */
  readonly isInvariant: boolean;
}

export interface ChooseOptions {
  /** Where the judgements stay, so that an interrupted choice goes on where it stopped. */
  readonly folder: string;
  readonly workers: number;
  /** Only mutations with such names; what is chosen now stays, and what shows these is added. Default: all, chosen anew. */
  readonly only?: RegExp | undefined;
}

/**
 * Chooses the instances of a quick run: judges every mutation with all that a quick run could have, as a quick run judges it,
 * and takes what shows most mutations with the requests that a quick run may send.
 */
export async function chooseQuick({ folder, workers, only }: ChooseOptions): Promise<void> {
  const units = await unitsOf();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "instances.txt");
  writeFileSync(file, units.flatMap(({ ids }) => ids).join("\n"));
  const names = MUTATIONS.map(({ name }) => name).filter((name) => only?.test(name) ?? true);
  const options = ["--instances", file, "--concurrency", "9"];
  const judgements = await judgeInWorkers("mutations", names, { workers, folder, options, label: "choose" });
  // One that was judged again counts with all that was seen of it: a busy machine leaves much undecided.
  const killers = new Map(
    [...groupBy(judgements, ({ name }) => name)].map(([name, own]) => [
      name,
      new Set(own.flatMap((one) => Object.keys(killOf(one).killers))),
    ]),
  );
  const costed = units.map((unit) => ({
    ...unit,
    isKept: unit.isInvariant || (only !== undefined && unit.ids.some((id) => QUICK_INSTANCES.includes(id))),
    shows: new Set([...killers].filter(([, ids]) => unit.ids.some((id) => ids.has(id))).map(([name]) => name)),
  }));
  const chosen = cover(costed, { requests: MAX_REQUESTS, exclusiveMs: MAX_EXCLUSIVE_MS });
  const ids = new Set(chosen.flatMap((unit) => speaking(unit.ids, killers)));
  const ordered = INSTANCES.map(({ id }) => id).filter((id) => ids.has(id));
  writeFileSync(FILE, source(ordered));
  report(killers, ids);
  const requests = chosen.reduce((sum, one) => sum + one.requests, 0);
  console.log(
    `chosen: ${ordered.length} of ${units.flatMap((unit) => unit.ids).length} instances, ${requests} requests`,
  );
}

/** Of what runs together anyway, only what shows something has a place in the report. */
function speaking(ids: readonly string[], killers: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  return ids.filter((id) => [...killers.values()].some((own) => own.has(id)));
}

function report(killers: ReadonlyMap<string, ReadonlySet<string>>, chosen: ReadonlySet<string>): void {
  const names = [...killers.keys()];
  const unseen = names.filter((name) => killers.get(name)?.size === 0);
  const missed = names.filter((name) => {
    const own = [...(killers.get(name) ?? [])];
    return own.length > 0 && !own.some((id) => chosen.has(id));
  });
  console.log(`mutations that nothing in a quick run could show: ${unseen.length}: ${unseen.join(", ")}`);
  console.log(`left out for their cost: ${missed.length}: ${missed.join(", ")}`);
}

/** What passes in a quick run of a sound gateway and is short, with what it costs there. */
async function unitsOf(): Promise<Unit[]> {
  const { results } = await judgeGateway({ instances: INSTANCES, isQuick: true });
  const { requests: preparation } = await judgeGateway({ instances: INSTANCES.filter(isInvariant), isQuick: true });
  const queue: CheckResult[][] = [...groupBy(results, unitOf).values()];
  const units: Unit[] = [];
  const costNext = async () => {
    for (let group = queue.shift(); group !== undefined; group = queue.shift()) {
      const passed = group.filter(({ status }) => status === "pass").map(({ id }) => id);
      if (passed.length === 0 || !isShort(group)) continue;
      const instances = INSTANCES.filter(({ id }) => passed.includes(id));
      // What a scenario or a fixture sends shows only when nothing else is run.
      const { requests } = await judgeGateway({ instances, isQuick: true });
      units.push({
        ids: passed,
        requests: requests - preparation,
        exclusiveMs: group.some(isExclusive) ? longestOf(group) : 0,
        isInvariant: instances.every(isInvariant),
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, costNext));
  return units.filter(({ requests }) => requests <= MAX_OF_ONE);
}

const isInvariant = ({ check }: Instance): boolean => check.kind === "invariant";
const longestOf = (group: readonly CheckResult[]): number => Math.max(...group.map(({ durationMs }) => durationMs));

function isShort(group: readonly CheckResult[]): boolean {
  return longestOf(group) <= (group.some(isExclusive) ? MAX_MS.exclusive : MAX_MS.beside);
}

function isExclusive(result: CheckResult): boolean {
  const { schedule } = sendingCheckOf(result) ?? {};
  return typeof schedule === "object" && schedule.order?.startsWith("exclusive") === true;
}

/** The scenario that an instance judges together with others; its own id where it judges none. */
function unitOf(result: CheckResult): string {
  return sendingCheckOf(result)?.scenario ?? result.id;
}

/** The check of a result; `undefined` where it sends nothing. */
function sendingCheckOf({ check: name }: CheckResult) {
  const check = CHECKS.find(({ id }) => id === name);
  return check?.kind === "sending" ? check : undefined;
}

function source(ids: readonly string[]): string {
  return `// Written by \`npm run verify:quick -- --choose\`: do not edit.

/** Instances of a quick run: those that show most mutations of the reference gateway with the requests that it may send. */
export const QUICK_INSTANCES: readonly string[] = [
${ids.map((id) => `  ${JSON.stringify(id)},`).join("\n")}
];
`;
}
