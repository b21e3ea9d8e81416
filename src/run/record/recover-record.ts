import { existsSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { mergeRounds, scoreBySet } from "../../checks/index.ts";
import { groupBy, isObject, UsageError } from "../../core/index.ts";
import { causesOf } from "../../judging/index.ts";
import { decideWithProfiles, nameWithAddress, type ProfileContext, raiseLevels } from "../../policy/index.ts";
import {
  type CheckResult,
  checkResultSchema,
  checksOfLoad,
  countExchanges,
  countStatuses,
  figuresOfLoad,
  type JournalLine,
  type JudgedLoad,
  type RunRecord,
  readJournal,
  readRecord,
  runRecordSchema,
} from "../../record/index.ts";
import { REQUIREMENTS } from "../../requirements/index.ts";
import { recoverLoad } from "./recover-load.ts";

/** The record of a run; if the run was killed before it wrote one, it is recovered from the journal. @throws UsageError */
export function readOrRecover(folder: string): RunRecord {
  if (existsSync(join(folder, "run.json"))) return readRecord(folder);
  return recoverRecord(folder) ?? readRecord(folder);
}

/**
 * Composes the record of a run that never wrote one: results so far are kept, missing ones are marked as missing, and none of
 * them counts as a pass.
 *
 * @returns `undefined` without a journal. @throws UsageError when it is from another version.
 */
function recoverRecord(folder: string): RunRecord | undefined {
  const lines = readJournal(folder);
  const started = lines.find(({ event }) => event === "started");
  const last = lines.at(-1);
  if (started === undefined || last === undefined || !isObject(started["run"])) return undefined;
  const head = started["run"];
  const target = isObject(head["target"]) ? head["target"] : {};
  const targetName = typeof target["name"] === "string" ? target["name"] : "unknown";
  const baseUrl = head["command"] === "client" ? undefined : target["baseUrl"];
  const address = typeof baseUrl === "string" ? baseUrl : undefined;
  const { results: ofChecks, judged } = resultsOf(lines, started);
  const load = recoverLoad(lines);
  const context = profilesOf(head["claimed"], started["covering"]);
  const results = raiseLevels([...ofChecks, ...checksOfLoad(load)], context);
  const atMs = (line: JournalLine) => Date.parse(line.at);
  const cutOff = `the run was cut off at ${last.at}: ${whatThereIs(ofChecks.length, judged, load)}`;
  const { verdict, profiles, notDeciding } = decideWithProfiles(results, context, {
    targetName,
    baseUrl: address,
    qualifiers: listOf(started["qualifiers"]),
    cutOff,
  });
  const found = runRecordSchema.safeParse({
    ...head,
    endedAt: last.at,
    durationMs: Math.max(0, atMs(last) - atMs(started)),
    complete: false,
    ...(profiles === undefined ? {} : { profiles }),
    ...(notDeciding === undefined ? {} : { notDeciding }),
    verdict: failureOf(lines, nameWithAddress(targetName, address)) ?? verdict,
    counts: countStatuses(results.map(({ status }) => status)),
    requirements: [
      ...REQUIREMENTS.filter(({ binds }) => head["command"] !== "client" || binds === "client"),
      ...(Array.isArray(started["customRequirements"]) ? started["customRequirements"] : []),
    ],
    ...filled("unscored", started["unscored"]),
    checks: results,
    ...(Array.isArray(started["notSelected"]) ? { notSelected: started["notSelected"] } : {}),
    causes: causesOf(results),
    ...filled("waivers", started["waivers"]),
    traffic: {
      requests:
        countExchanges(folder) + (load?.runs ?? []).flatMap(({ phases }) => phases).reduce((n, p) => n + p.sent, 0),
      note: "Counted from what was kept: the run was cut off, and more may have been sent.",
    },
    ...(load === undefined ? {} : { load: figuresOfLoad(load) }),
  });
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  throw new UsageError(
    `the journal in ${folder} is not one of this version: ${issue?.path.join(".")}: ${issue?.message}`,
  );
}

/** The verdict of a run that ended with an error before anything was judged; `undefined` if it did not. */
function failureOf(lines: readonly JournalLine[], subject: string): RunRecord["verdict"] | undefined {
  const failure = lines.find(({ event }) => event === "failed");
  if (failure === undefined) return undefined;
  const texts = [failure["message"], failure["hint"]].filter((text) => typeof text === "string");
  return {
    result: "error",
    exitCode: Number(failure["exitCode"]),
    headline: `ERROR: ${subject}: nothing was judged`,
    reasons: texts.map((text) => ({ kind: "run", text })),
    qualifiers: [],
  };
}

const coveringSchema = z.array(
  z.object({
    id: z.string(),
    check: z.string(),
    suite: z.string(),
    dialect: z.enum(["chat", "messages", "any"]),
    requirements: z.array(z.string()),
  }),
);

/** The profiles that a run chose; `undefined` if it chose none, or if its journal does not list what the checks cover. */
function profilesOf(claimed: unknown, covering: unknown): ProfileContext | undefined {
  const chosen = runRecordSchema.shape.claimed.safeParse(claimed);
  const instances = coveringSchema.safeParse(covering);
  return chosen.data === undefined || !instances.success ? undefined : { ...chosen.data, instances: instances.data };
}

/** Recorded results, and for planned instances that were not reached, that they were not. */
function resultsOf(lines: readonly JournalLine[], started: JournalLine): { results: CheckResult[]; judged: number } {
  const finished = lines.flatMap((line) => {
    const parsed = line.event === "check-finished" ? checkResultSchema.safeParse(line["result"]) : undefined;
    return parsed?.success ? [parsed.data] : [];
  });
  const rounds = groupBy(finished, ({ id }) => id);
  const planned = Array.isArray(started["checks"]) ? started["checks"] : [];
  const results = planned.flatMap((one) => {
    const parsed = checkResultSchema.safeParse(one);
    if (!parsed.success) return [];
    const done = rounds.get(parsed.data.id);
    return [done === undefined ? parsed.data : mergeRounds(done)];
  });
  return { results: scoreBySet(results, listOf(started["unscored"])), judged: rounds.size };
}

function whatThereIs(planned: number, judged: number, load: JudgedLoad | undefined): string {
  const checks = planned === 0 ? [] : [`${judged} of ${planned} check instances were judged`];
  const loads = (load?.runs ?? []).map(({ name, phases }) => {
    const sent = phases.reduce((sum, phase) => sum + phase.sent, 0);
    return `${name} had sent ${sent} requests in ${phases.length} ${phases.length === 1 ? "phase" : "phases"}`;
  });
  const all = [...checks, ...loads];
  return all.length === 0 ? "nothing was measured yet" : all.join("; ");
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function filled(name: string, value: unknown): object {
  return Array.isArray(value) && value.length > 0 ? { [name]: value } : {};
}
