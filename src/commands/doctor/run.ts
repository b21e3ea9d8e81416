import { unblockYaml } from "../../../reports/index.ts";
import { CHECKS } from "../../../suites/index.ts";
import { instancesOf, planOf, preflightOf, type RequestSpec, type Response, Traffic } from "../../checks/index.ts";
import { EXIT, formatCount, formatNumber, UsageError } from "../../core/index.ts";
import { readRateLimit } from "../../dialects/index.ts";
import { denialOfKey } from "../../requirements/index.ts";
import type { OnProgress, Outcome, SendingPlan } from "../../run/control/index.ts";
import { permitFor, programHere, requestsOnly, sumOf } from "../../run/control/index.ts";
import {
  describeResponse,
  dialectAdvice,
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
 * @returns exit code 0 when everything is ready, 3 when nothing responds, 4 when a key or model does not match the file.
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
    symptoms.push(clean);
    onSymptom(clean);
  };
  say({ about: "target file", level: "good", text: `${file}: ${target.name} at ${target.baseUrl}` });
  onProgress({ kind: "step", text: `connecting to ${target.baseUrl}` });
  const list = await listModels(traffic);
  if (list.status === undefined) throw unreachable(target.baseUrl, list);
  for (const symptom of reachSymptoms(target, list)) say(symptom);
  for (const address of addressesOf(target).slice(1)) {
    onProgress({ kind: "step", text: `connecting to ${address}` });
    const other = await requestModelList(traffic, address);
    if (other.status === undefined) throw unreachable(address, other);
    for (const symptom of reachSymptoms(target, other)) say({ ...symptom, about: `gateway at ${address}` });
  }
  const listed = listedModels(list);
  for (const advice of modelAdvice(target, listed))
    say({ about: "models", level: "note", text: advice.cause, next: advice.next });
  const responses: Response[] = [];
  const [endpoint = "chat"] = target.dialects;
  const first = { endpoint, mode: "non-streaming" } as const;
  // If no model is known, an unknown one still shows whether the key is accepted.
  const attempt: RequestSpec = {
    intent: "any",
    maxTokens: 8,
    repeats: false,
    ...(traffic.target.models[endpoint].plain === undefined && { model: { id: "" } }),
  };
  for (const name of Object.keys(target.keys) as KeyName[]) {
    onProgress({ kind: "step", text: `trying key ${name}` });
    const response = await traffic.send({ ...attempt, key: name }, first);
    responses.push(response);
    say(keySymptom(name, response, traffic.target, list));
  }
  if (endpoint === "chat" && target.dialects.includes("messages")) {
    onProgress({ kind: "step", text: "trying the messages dialect" });
    responses.push(await traffic.send({ ...attempt, endpoint: "messages" }, first));
    say(messagesSymptom(responses, traffic.target, list));
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
  const bad = symptoms.filter(({ level }) => level === "bad").length;
  const exitCode = bad === 0 ? EXIT.pass : EXIT.inconclusive;
  const next = `${programHere()} conform --target ${file}`;
  return {
    exitCode,
    document: { schemaVersion: 1, exitCode, symptoms },
    text: () =>
      bad === 0
        ? `\nReady to run: ${next}\n`
        : `\n${bad} ${bad === 1 ? "problem" : "problems"} to fix before: ${next}\n`,
  };
}

/** Larger clock differences make dates in Retry-After and daily caps hard to judge, ms. */
const MAX_SKEW_MS = 5_000;

function reachSymptoms(target: Target, list: Response): Symptom[] {
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

/** A success status without a reply. */
function isNoReply(response: Response): boolean {
  return response.admitted && response.reply.parts === undefined;
}

function noReply(about: string, { status }: Response): Symptom {
  return {
    about,
    level: "bad",
    text: `responded with ${status} and a body that is not a reply`,
    next: "baseUrl may point at something that is not a gateway.",
  };
}

/** @param responses of both dialects; the last is in the messages dialect. */
function messagesSymptom(responses: readonly Response[], target: Target, list: Response): Symptom {
  const about = "messages dialect";
  const response = responses.at(-1) as Response;
  const { models } = target;
  if (isNoReply(response)) return noReply(about, response);
  if (response.admitted) return { about, level: "good", text: `served by ${models.messages.plain}` };
  const undeclared = dialectAdvice(target, responses)?.next;
  const named = "Name a model that /messages serves as models.messages.";
  const next =
    headerHint(response) ??
    earlierStep("valid", response, list) ??
    (undeclared === undefined ? named : `${named} ${undeclared}`);
  return { about, level: "bad", text: describeResponse(response), next };
}

function keySymptom(name: KeyName, response: Response, target: Target, list: Response): Symptom {
  const about = `key ${name}`;
  const expected = denialOfKey(name)?.reason;
  if (expected === undefined) {
    if (isNoReply(response)) return noReply(about, response);
    if (response.admitted) return { about, level: "good", text: "served" };
    return {
      about,
      level: "bad",
      text: describeResponse(response),
      next: headerHint(response) ?? keyStep(name, response, target, list),
    };
  }
  if (response.admitted) {
    return {
      about,
      level: "bad",
      text: "served",
      next: `keys.${name} should be denied as ${expected}: it is not in that state.`,
    };
  }
  const own = target.contract.reasonFrom === undefined && response.reason !== expected;
  return {
    about,
    level: own ? "note" : "good",
    text: `denied: ${own ? describeResponse(response) : response.summary}`,
    next: own ? `The specification's reason is ${expected}; if yours is another, map it in contract.` : undefined,
  };
}

/** Each key once, plus one request in the dialect that the first key was not tried in. */
function doctorPlan(target: Target): SendingPlan {
  return sumOf([requestsOnly("doctor", preflightOf(target) + Object.keys(target.keys).length + 1)], false);
}

/** What to check when a key that should be served is not. */
function keyStep(name: KeyName, response: Response, { models, dialects }: Target, list: Response): string {
  const [dialect = "chat"] = dialects;
  const { status = 0 } = response;
  const earlier = earlierStep(name, response, list);
  if (earlier !== undefined) return earlier;
  if (models[dialect].plain === undefined)
    return `No model is known: the list gives none. Name one:\nmodels:\n  ${dialect}: <model id>`;
  if (status >= 500) return "The gateway or its provider failed. Check its log.";
  return checkKey(name);
}

/** What to do before a model is named: a wrong key or a wrong path says nothing about models. */
function earlierStep(name: KeyName, { status = 0, reason }: Response, list: Response): string | undefined {
  if (status === 401 || status === 403) return checkKey(name);
  const isWrongPath = [404, 405].includes(status) && [404, 405].includes(list.status ?? 0);
  return isWrongPath && reason !== "model_not_found" ? "Fix baseUrl first." : undefined;
}

const checkKey = (name: KeyName): string => `keys.${name} should be served; check what the variable or file contains.`;

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
