import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Instance, instancesOf } from "../../../src/checks/index.ts";
import { groupBy } from "../../../src/core/index.ts";
import type { CheckResult } from "../../../src/record/index.ts";
import { MUTATIONS } from "../../../src/reference-gateway/index.ts";
import { CHECKS, QUICK_INSTANCES } from "../../../suites/index.ts";
import { cover } from "./cover.ts";
import { killOf } from "./evaluate.ts";
import { judgeGateway } from "./judge-gateway.ts";
import { judgeInWorkers } from "./judge-in-workers.ts";

const FILE = join(import.meta.dirname, "../../../suites/quick-instances.ts");
const INSTANCES = CHECKS.flatMap(instancesOf);

/**
 * Maximum number of requests that its units send when run alone; together they share control requests, so that a quick run sends
 * 55 fewer.
 */
const MAX_REQUESTS = 845;
/** A unit that sends more than this is excluded from a quick run. */
const MAX_OF_ONE = 130;
/** A unit that takes longer alone is excluded from a run of seconds, ms; so is an exclusive one. */
const MAX_MS = { concurrent: 14_000, exclusive: 500 };
/** Maximum total time of exclusive units, ms. */
const MAX_EXCLUSIVE_MS = 500;

/** Gateways that are judged concurrently to see what a unit costs; they are idle most of the time. */
const AT_ONCE = 8;

/** What is run together or not at all: the checks of one scenario, or one instance. */
interface Unit {
  readonly ids: readonly string[];
  readonly requests: number;
  readonly exclusiveMs: number;
  /** Judges the traffic of the whole run: sends no requests itself, and is always included. */
  readonly isInvariant: boolean;
}

export interface ChooseOptions {
  /** Where the judgements are stored, so that an interrupted selection resumes where it stopped. */
  readonly folder: string;
  readonly workers: number;
  /**
   * Only mutations with matching names; the current selection stays, and checks that detect these are added. Default: all,
   * selected again.
   */
  readonly only?: RegExp | undefined;
}

/**
 * Selects the instances of a quick run: judges every mutation with all candidates, in the way a quick run does, and takes those
 * that detect most mutations within the request budget of a quick run.
 */
export async function chooseQuick({ folder, workers, only }: ChooseOptions): Promise<void> {
  const units = await unitsOf();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "instances.txt");
  writeFileSync(file, units.flatMap(({ ids }) => ids).join("\n"));
  const names = MUTATIONS.map(({ name }) => name).filter((name) => only?.test(name) ?? true);
  const options = ["--instances", file, "--concurrency", "9"];
  const judgements = await judgeInWorkers("mutations", names, { workers, folder, options, label: "choose" });
  // A mutation that was judged again counts with all results: a busy machine leaves many inconclusive.
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

/** Of instances that run together anyway, only those that detect something are reported. */
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
  console.log(`omitted because of their cost: ${missed.length}: ${missed.join(", ")}`);
}

/** Instances that pass in a quick run of a conformant gateway and are short, with their cost there. */
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
      // What a scenario or a fixture sends only shows when nothing else is run.
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
  return longestOf(group) <= (group.some(isExclusive) ? MAX_MS.exclusive : MAX_MS.concurrent);
}

function isExclusive(result: CheckResult): boolean {
  const { schedule } = sendingCheckOf(result) ?? {};
  return typeof schedule === "object" && schedule.order?.startsWith("exclusive") === true;
}

/** The scenario that an instance judges together with others; its own id if it judges none. */
function unitOf(result: CheckResult): string {
  return sendingCheckOf(result)?.scenario ?? result.id;
}

/** The check of a result; `undefined` if it sends nothing. */
function sendingCheckOf({ check: name }: CheckResult) {
  const check = CHECKS.find(({ id }) => id === name);
  return check?.kind === "sending" ? check : undefined;
}

function source(ids: readonly string[]): string {
  return `// Written by \`npm run verify quick -- --choose\`: do not edit.

/** Instances of a quick run: those that show most mutations of the reference gateway with the requests that it may send. */
export const QUICK_INSTANCES: readonly string[] = [
${ids.map((id) => `  ${JSON.stringify(id)},`).join("\n")}
];
`;
}
