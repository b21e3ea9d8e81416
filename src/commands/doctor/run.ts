import { unblockYaml } from "../../../reports/index.ts";
import { CHECKS } from "../../../suites/index.ts";
import { instancesOf, planOf, preflightOf, type RequestSpec, type Response, Traffic } from "../../checks/index.ts";
import { EXIT, formatCount, formatNumber, UsageError } from "../../core/index.ts";
import { type Dialect, readRateLimit } from "../../dialects/index.ts";
import type { OnProgress, Outcome, SendingPlan } from "../../run/control/index.ts";
import { permitFor, programHere, requestsOnly, sumOf } from "../../run/control/index.ts";
import {
  headerHint,
  listAdvice,
  listedModels,
  listModels,
  modelAdvice,
  requestModelList,
  unreachable,
} from "../../run/preflight/index.ts";
import { dropUndeclaredSuites, undeclaredSuites } from "../../run/suites/index.ts";
import { addressesOf, type KeyName, loadTarget, type Target, TIER_LIMITS } from "../../target/index.ts";
import { isNoReply, keySymptom, messagesSymptom } from "./key-symptoms.ts";
import { ledgerSymptom } from "./ledger-symptom.ts";
import { machineSymptoms } from "./machine-symptoms.ts";
import type { Symptom } from "./symptom.ts";

export interface DoctorControl {
  /** Receives each symptom as it is found. */
  readonly onSymptom: (symptom: Symptom) => void;
  readonly onProgress: OnProgress;
}

/**
 * Checks a target and this machine before a run: reachability, clocks, each key once, models, limits, open files. Reports what
 * can run with this configuration, and what is missing for the rest. Sends at most a dozen requests.
 *
 * @returns exit code 0 when everything is ready, 2 when the target file does not match the gateway, 3 when nothing responds, 4 when
 * only the gateway or this machine is not ready.
 */
export async function doctor(file: string, { onSymptom, onProgress }: DoctorControl): Promise<Outcome> {
  if (file === "embedded")
    throw new UsageError("doctor checks a target file, and the embedded gateway has none", {
      hint: "`gauntlet conform --target embedded` needs no set-up.",
    });
  const target = loadTarget(file, process.env);
  const controller = new AbortController();
  const { budget } = permitFor(target, doctorPlan(target), "checks");
  await using traffic = new Traffic({ target, budget, seed: 1, signal: controller.signal });
  const symptoms: Symptom[] = [];
  const say = (symptom: Symptom) => {
    const clean = traffic.recorder.redactor.redactValue(symptom);
    const isKnown = clean.cause !== undefined && symptoms.some(({ cause }) => cause === clean.cause);
    symptoms.push(clean);
    // What to do is said once for each cause.
    onSymptom(isKnown ? { ...clean, next: undefined } : clean);
  };
  say({ about: "target file", level: "good", text: `${file}: ${target.name} at ${target.baseUrl}` });
  onProgress({ kind: "step", text: `connecting to ${target.baseUrl}` });
  const list = await listModels(traffic);
  if (list.status === undefined) throw unreachable(target.baseUrl, list);
  for (const symptom of reachSymptoms(target, list)) say(symptom);
  for (const [index, address] of addressesOf(target).entries()) {
    if (index === 0) continue;
    onProgress({ kind: "step", text: `connecting to ${address}` });
    const other = await requestModelList(traffic, address);
    if (other.status === undefined) throw unreachable(address, other);
    for (const symptom of reachSymptoms(target, other, `addresses.${index}`))
      say({ ...symptom, about: `gateway at ${address}` });
  }
  const listed = listedModels(list);
  for (const advice of modelAdvice(target, listed))
    say({ about: "models", level: "note", text: advice.cause, next: advice.next });
  const responses: Response[] = [];
  const [endpoint = "chat"] = target.dialects;
  const first = { endpoint, mode: "non-streaming" } as const;
  // If no model is known, an unknown one still shows whether the key is accepted.
  const attempt = (dialect: Dialect): RequestSpec => ({
    ...{ endpoint: dialect, intent: "any", maxTokens: 8, repeats: false },
    ...(traffic.target.models[dialect].plain === undefined && { model: { id: "" } }),
  });
  for (const name of Object.keys(target.keys) as KeyName[]) {
    onProgress({ kind: "step", text: `trying key ${name}` });
    const response = await traffic.send({ ...attempt(endpoint), key: name }, first);
    responses.push(response);
    say(keySymptom(name, response, traffic.target, list));
  }
  const hasOther = endpoint === "chat" && target.dialects.includes("messages");
  const isModelWrong = symptoms.some(({ cause }) => cause === `models.${endpoint}`);
  // Even if the path looks wrong, the other dialect is tried: the gateway may serve only that one.
  const isPathWrong = [list, responses[0]].every((response) => response?.status === 404 || response?.status === 405);
  if (hasOther && isModelWrong && traffic.target.models.messages.plain === undefined) {
    say({ about: "messages dialect", level: "note", text: "not tried, because no model for it is known" });
  } else if (hasOther) {
    onProgress({ kind: "step", text: "trying the messages dialect" });
    responses.push(await traffic.send(attempt("messages"), first));
    const symptom = messagesSymptom(responses, traffic.target, list);
    // If the path is wrong, this failure is the same problem, not another one.
    say(isPathWrong && symptom.level === "bad" ? { ...symptom, level: "note", next: undefined } : symptom);
  } else {
    say({ about: "dialects", level: "good", text: `${endpoint} only, as the target file declares` });
  }
  for (const symptom of limitSymptoms(target, [list, ...responses])) say(symptom);
  const ledger = await ledgerSymptom(target, controller.signal);
  if (ledger !== undefined) say(ledger);
  for (const symptom of await machineSymptoms(target)) say(symptom);
  // If the gateway served nothing, for example because the path is wrong, it is unknown which checks could run.
  if (responses.some((response) => response.admitted && !isNoReply(response)))
    for (const symptom of coverageSymptoms(traffic.target)) say(symptom);
  const bad = symptoms.filter(({ level }) => level === "bad");
  const problems = new Set(bad.map(({ cause, about }) => cause ?? about)).size;
  const isInFile = bad.some(({ isOutsideFile }) => isOutsideFile !== true);
  const exitCode = problems === 0 ? EXIT.pass : isInFile ? EXIT.usage : EXIT.inconclusive;
  const next = `${programHere()} conform --target ${file}`;
  return {
    exitCode,
    document: { schemaVersion: 1, exitCode, symptoms },
    text: () =>
      problems === 0
        ? `\nReady to run: ${next}\n`
        : `\n${formatCount(problems, "problem")} to fix before running: ${next}\n`,
  };
}

/** Larger clock differences make dates in Retry-After and daily caps hard to judge, ms. */
const MAX_SKEW_MS = 5_000;

/** @param path of the address in the target file. */
function reachSymptoms(target: Target, list: Response, path = "baseUrl"): Symptom[] {
  const advice = listAdvice(target, list);
  const tls = target.baseUrl.startsWith("https:") ? "over TLS" : "without TLS";
  const reach: Symptom =
    advice === undefined
      ? { about: "gateway", level: "good", text: `responds in ${Math.round(list.durationMs)} ms, ${tls}` }
      : {
          about: "gateway",
          level:
            advice.withoutModel === true &&
            target.dialects.some((dialect) => target.models[dialect].plain !== undefined)
              ? "note"
              : "bad",
          text: advice.cause,
          cause: causeOfList(list, path),
          ...((list.status ?? 0) >= 500 && { isOutsideFile: true }),
          next: advice.next,
        };
  const date = Date.parse(list.header("date") ?? "");
  if (Number.isNaN(date))
    return [reach, { about: "clock", level: "note", text: "no Date header; clocks cannot be compared" }];
  // A Date header has whole seconds, and the response took time to arrive.
  const skewMs = list.exchange.startedAtMs + list.durationMs / 2 - (date + 500);
  const close = Math.abs(skewMs) <= MAX_SKEW_MS;
  return [
    reach,
    {
      about: "clock",
      level: close ? "good" : "note",
      text: close
        ? `within ${MAX_SKEW_MS / 1_000} s of the gateway's`
        : `${Math.round(Math.abs(skewMs) / 1_000)} s ${skewMs > 0 ? "ahead of" : "behind"} the gateway's`,
      next: close ? undefined : "Retry-After dates and daily caps are judged by both: set this machine's clock by NTP.",
    },
  ];
}

/** Why the model list was refused, if that also makes the other requests fail. */
function causeOfList(list: Response, path: string): string | undefined {
  const { status = 0 } = list;
  if (headerHint(list) !== undefined) return "extraHeaders";
  if (status === 401 || status === 403) return "keys.valid";
  return status === 404 || status === 405 ? path : undefined;
}

/** Each key once, plus one request in the dialect that the first key was not tried in. */
function doctorPlan(target: Target): SendingPlan {
  return sumOf([requestsOnly("doctor", preflightOf(target) + Object.keys(target.keys).length + 1)], false);
}

function limitSymptoms(target: Target, responses: readonly Response[]): Symptom[] {
  const stated = responses
    .map(
      (response) => readRateLimit(response.header("x-ratelimit-limit"))?.perMinute.filter((limit) => limit > 0) ?? [],
    )
    .find((perMinute) => perMinute.length > 0);
  const seen = stated?.[0];
  if (target.limits === undefined) {
    const hint =
      seen === undefined
        ? "Add the limits of the account:\nlimits: starter   # or { rpm: …, inFlight: … }"
        : `The gateway states ${formatNumber(seen)} requests/min. Add:\nlimits: { rpm: ${seen}, inFlight: … }`;
    return [
      {
        about: "limits",
        level: "note",
        text: `not configured: sending at the Starter rate, ${TIER_LIMITS.starter.rpm} requests/min`,
        next: hint,
      },
    ];
  }
  const { rpm, inFlight } = target.limits;
  if (stated !== undefined && !stated.includes(rpm)) {
    return [
      {
        about: "limits",
        level: "bad",
        text: `limits.rpm is ${inWords(rpm)}, but the gateway sends X-RateLimit-Limit: ${seen}`,
      },
    ];
  }
  return [{ about: "limits", level: "good", text: `${inWords(rpm)} per minute, ${inWords(inFlight)} in flight` }];
}

const inWords = (limit: number): string => (Number.isFinite(limit) ? formatNumber(limit) : "none");

/** What `conform` would run with this target file. Every selected check instance is counted in exactly one of the groups. */
function coverageSymptoms(target: Target): Symptom[] {
  const instances = dropUndeclaredSuites(CHECKS.flatMap(instancesOf), {}, target);
  const plan = planOf(instances, target, { canCreateKeys: target.provision !== undefined });
  const blocked = plan.suites.reduce((sum, suite) => sum + suite.blocked, 0);
  const skipped = plan.suites.reduce((sum, suite) => sum + suite.skipped, 0);
  const excess = plan.omitted.length;
  const runnable = instances.length - blocked - skipped - excess;
  const sending = `about ${formatCount(plan.requests, "request")}, at least ${formatNumber(plan.durationS)} s`;
  const others = [
    ...(skipped === 0 ? [] : [`${formatNumber(skipped)} ${skipped === 1 ? "does" : "do"} not apply`]),
    ...(excess === 0 ? [] : [`${formatNumber(excess)} ${excess === 1 ? "exceeds" : "exceed"} the budget`]),
  ];
  const can: Symptom = {
    about: "can run",
    level: "good",
    text: [
      `${formatNumber(runnable)} of ${formatCount(instances.length, "check instance")} (${sending})`,
      ...others,
    ].join("; "),
  };
  const optional = undeclaredSuites(target).map(({ suite, part }) => `${suite} (needs \`${part}:\`)`);
  const notSelected: Symptom = {
    about: "not selected",
    level: "good",
    text: `optional suites that the target file does not declare: ${optional.join(", ")}`,
  };
  const lines = unblockYaml(
    plan.unblock.map((unblock) => ({ unblock })),
    target.configuration,
  );
  const cannot: Symptom = {
    about: "cannot run",
    level: "note",
    text: `${formatCount(blocked, "check instance")}${lines === undefined ? "" : `. To run ${blocked === 1 ? "it" : "them"}, replace these sections of the target file (they include what is already there):`}`,
    next: lines?.trimEnd(),
  };
  return [can, ...(optional.length === 0 ? [] : [notSelected]), ...(blocked === 0 ? [] : [cannot])];
}
