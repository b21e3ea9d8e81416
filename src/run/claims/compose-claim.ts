import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  controlOf,
  curlLine,
  type Evidence,
  embeddedSwitches,
  keyVariables,
  outcomeOf,
  type ReportSource,
  readEvidence,
  rerunAllOf,
} from "../../../reports/index.ts";
import { CLAIM_VERSION, type Claim, type ClaimedExchange, claimText } from "../../claims/index.ts";
import { isObject } from "../../core/index.ts";
import {
  type CheckResult,
  EXCHANGES,
  type ProfileResult,
  RECORDINGS,
  type RunRecord,
  readExchanges,
} from "../../record/index.ts";
import { type JudgedRecord, judgeStored } from "./judge-stored.ts";

/** Files of a run folder that a claim follows from. */
const FILES = ["run.json", EXCHANGES, RECORDINGS] as const;
/** Maximum length of a body in a claim. */
const MAX_BODY_CHARACTERS = 1_500;

/**
 * The claim of a stored run: a pure function of the files of its folder, so that anyone with the folder computes the same bytes.
 *
 * @throws UsageError if the run claims nothing, or its recording does not give what it states.
 */
export function composeClaim(dir: string): Claim {
  const judged = judgeStored(dir);
  const { record, claimed } = judged;
  const limitations = limitationsOf(judged);
  const configuration = isObject(record.configuration.value) ? record.configuration.value : {};
  const { profiles, exchanges } = withExchanges(judged, dir);
  return {
    schemaVersion: CLAIM_VERSION,
    kind: "gauntlet-claim",
    gateway: gatewayOf(record),
    harness: record.harness,
    requirementSet: record.requirementSet,
    run: {
      id: record.runId,
      startedAt: record.startedAt,
      endedAt: record.endedAt,
      complete: record.complete,
      qualifiers: record.verdict.qualifiers,
    },
    contract: configuration["contract"] ?? null,
    reading: record.target.reading,
    declared: claimed.declared,
    waivers: (record.waivers ?? []).map(({ magnitudes: _magnitudes, place: _place, ...waiver }) => waiver),
    limitations,
    profiles: profiles.map((profile) =>
      profile.result === "conformant" && limitations.length > 0 ? { ...profile, result: "partial" } : profile,
    ),
    exchanges,
    record: recordDigest(dir),
    reproduce: rerunAllOf(record),
  };
}

/** The same as a file. @throws UsageError as above. */
export const composeClaimText = (dir: string): string => claimText(composeClaim(dir));

function gatewayOf(record: RunRecord): Claim["gateway"] {
  const { target, harness, configuration } = record;
  const server = target.build ?? null;
  if (target.source === "embedded") {
    const version = harness.commit === undefined ? harness.version : `${harness.version}, commit ${harness.commit}`;
    const startedWith = ["gauntlet gateway", ...embeddedSwitches(record)].join(" ");
    return { name: embeddedName(record), version, startedWith, server };
  }
  const written = isObject(configuration.value) ? configuration.value["gateway"] : undefined;
  const stated = (name: string): string | null => {
    const value = isObject(written) ? written[name] : undefined;
    return typeof value === "string" ? value : null;
  };
  return { name: target.name, version: stated("version"), startedWith: stated("startedWith"), server };
}

/** A changed build is another gateway: under one name, its results would count as those of the unchanged one. */
function embeddedName({ target, configuration }: RunRecord): string {
  const changes = ["mutations", "variants"].flatMap((name) => {
    const values = isObject(configuration.value) ? configuration.value[name] : undefined;
    return Array.isArray(values) ? values.map(String) : [];
  });
  return changes.length === 0 ? target.name : `${target.name} with ${changes.join(", ")}`;
}

/**
 * Why no profile of this run may be called conformant. What was skipped or blocked makes only the profiles partial that need it.
 */
function limitationsOf({ record, results }: JudgedRecord): string[] {
  const { harness, complete, load, unscored = [] } = record;
  const { version, startedWith } = gatewayOf(record);
  const isBusy = (reason: { readonly kind: string } | undefined) =>
    reason?.kind === "generator-late" || reason?.kind === "machine-busy";
  const late = results.filter(
    ({ reason, findings }) => isBusy(reason) || findings.some((finding) => isBusy(finding.reason)),
  );
  const invalid = (load?.runs ?? []).filter(({ generator }) => !generator.valid);
  const waived = results.filter(({ waived: one }) => one !== undefined);
  return [
    ...(harness.commit === undefined ? ["the harness does not name the commit that it was built from"] : []),
    ...(harness.dirty === true ? ["the harness was built with uncommitted changes"] : []),
    ...(complete ? [] : ["the run ended early"]),
    ...(version === null ? ["the target file does not state the version of the gateway (gateway.version)"] : []),
    ...(startedWith === null
      ? ["the target file does not state how the gateway was started (gateway.startedWith)"]
      : []),
    ...(late.length + invalid.length === 0
      ? []
      : [
          `the machine was too busy to send on time: ${[...late.map(({ id }) => id), ...invalid.map(({ name }) => name)].slice(0, 5).join(", ")}`,
        ]),
    ...(waived.length === 0 ? [] : [`waived: ${waived.map(({ id }) => id).join(", ")}`]),
    ...(unscored.length === 0 ? [] : [`not judged by newer requirements: ${unscored.join(", ")}`]),
  ];
}

/** Adds the control requests of violations, and the exchanges that the results name. */
function withExchanges(
  judged: JudgedRecord,
  dir: string,
): { readonly profiles: ProfileResult[]; readonly exchanges: ClaimedExchange[] } {
  const { profiles, results, record } = judged;
  const byId = new Map(results.map((result) => [result.id, result]));
  const evidence = evidenceFor(profiles, { byId, dir });
  const variables = keyVariables(record.configuration.value);
  const shown = new Map<string, ClaimedExchange>();
  const show = (one: Evidence | undefined) => {
    if (one !== undefined) shown.set(one.id, claimedExchange(one, variables));
    return one?.id;
  };
  const named = profiles.map((profile) => ({
    ...profile,
    requirements: profile.requirements.map((requirement) => {
      const exchange = requirement.exchange === undefined ? undefined : evidence(requirement.exchange);
      if (exchange === undefined) return requirement;
      show(exchange);
      const check = checkOf(requirement, byId);
      const control =
        (requirement.control === undefined ? undefined : evidence(requirement.control)) ??
        (check === undefined ? undefined : controlOf(check, exchange, { evidence }));
      const controlId = show(control);
      return controlId === undefined ? requirement : { ...requirement, control: controlId };
    }),
  }));
  return { profiles: named, exchanges: [...shown.values()] };
}

type Requirement = ProfileResult["requirements"][number];
type ResultsById = ReadonlyMap<string, CheckResult>;

/** The check that sent the exchange of a requirement. */
function checkOf({ checks, exchange }: Requirement, byId: ResultsById): CheckResult | undefined {
  if (exchange === undefined) return undefined;
  return checks.map((name) => byId.get(name)).find((one) => one?.exchanges.includes(exchange));
}

/** Finds the exchanges that results of profiles name, and those that may be their control requests. */
function evidenceFor(
  profiles: readonly ProfileResult[],
  { byId, dir }: { readonly byId: ResultsById; readonly dir: string },
): ReportSource["evidence"] {
  const ids = profiles
    .flatMap(({ requirements }) => requirements)
    .filter(({ exchange }) => exchange !== undefined)
    .flatMap((one) => {
      const check = checkOf(one, byId);
      const controls = check?.findings.flatMap(({ control }) => control ?? []) ?? [];
      return [one.exchange ?? [], one.control ?? [], check?.exchanges ?? [], controls].flat();
    });
  const lineOf = readExchanges(dir, new Set(ids));
  return (id) => readEvidence(lineOf(id));
}

function claimedExchange(evidence: Evidence, variables: (key: string) => string): ClaimedExchange {
  const { id, request, response } = evidence;
  const curl = curlLine(evidence, variables);
  const { text } = response?.body ?? {};
  return {
    id,
    method: request.method,
    url: request.url,
    ...(request.body === undefined ? {} : { requestBody: request.body.slice(0, MAX_BODY_CHARACTERS) }),
    outcome: outcomeOf(evidence),
    ...(text === undefined ? {} : { responseBody: text.slice(0, MAX_BODY_CHARACTERS) }),
    ...(curl === undefined ? {} : { curl }),
  };
}

/** The hash of the record: of the hashes of its files. */
export function recordDigest(dir: string): Claim["record"] {
  const files = FILES.filter((name) => existsSync(join(dir, name))).map((name) => ({
    name: name.replaceAll("\\", "/"),
    sha256: createHash("sha256")
      .update(readFileSync(join(dir, name)))
      .digest("hex"),
  }));
  const lines = files.map((file) => `${file.sha256}  ${file.name}\n`).join("");
  return { sha256: createHash("sha256").update(lines).digest("hex"), files };
}
