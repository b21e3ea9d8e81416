import type { Response } from "../../checks/index.ts";
import type { Dialect } from "../../dialects/index.ts";
import { denialOfKey } from "../../requirements/index.ts";
import {
  describeResponse,
  dialectAdvice,
  headerHint,
  listedModels,
  suggestedModel,
} from "../../run/preflight/index.ts";
import type { KeyName, Target } from "../../target/index.ts";
import type { Symptom } from "./symptom.ts";

/** A success status without a reply. */
export function isNoReply(response: Response): boolean {
  return response.admitted && response.reply.parts === undefined;
}

function noReply(about: string, { status }: Response): Symptom {
  return {
    about,
    level: "bad",
    text: `responded with ${status} and a body that is not a reply`,
    cause: "baseUrl",
    next: "baseUrl may point at something that is not a gateway.",
  };
}

/** @param responses of both dialects; the last is in the messages dialect. */
export function messagesSymptom(responses: readonly Response[], target: Target, list: Response): Symptom {
  const about = "messages dialect";
  const response = responses.at(-1) as Response;
  if (isNoReply(response)) return noReply(about, response);
  if (response.admitted) return { about, level: "good", text: `served by ${target.models.messages.plain}` };
  const undeclared = dialectAdvice(target, responses)?.next;
  const named = "Set models.messages to a model that /messages serves.";
  const next = undeclared === undefined ? named : `${named} ${undeclared}`;
  return {
    ...{ about, level: "bad", text: describeResponse(response), next },
    ...knownCause({ name: "valid", dialect: "messages" }, response, target, list),
  };
}

/** Whether a key is in the state that its name says. */
export function keySymptom(name: KeyName, response: Response, target: Target, list: Response): Symptom {
  const about = `key ${name}`;
  const expected = denialOfKey(name)?.reason;
  if (expected === undefined) {
    if (isNoReply(response)) return noReply(about, response);
    if (response.admitted) return { about, level: "good", text: "served" };
    const [dialect = "chat"] = target.dialects;
    return {
      ...{ about, level: "bad", text: describeResponse(response), next: keyStep(name, dialect, target) },
      ...knownCause({ name, dialect }, response, target, list),
    };
  }
  if (response.admitted) {
    return {
      about,
      level: "bad",
      text: "served",
      next: `keys.${name} should be denied as ${expected}, but the key is not in that state.`,
    };
  }
  const own = target.contract.reasonFrom === undefined && response.reason !== expected;
  return {
    about,
    level: own ? "note" : "good",
    text: `denied: ${own ? describeResponse(response) : response.summary}`,
    next: own ? `The specification's reason is ${expected}; if yours is different, map it in contract.` : undefined,
  };
}

/** What to check when a key that should be served is not. */
function keyStep(name: KeyName, dialect: Dialect, { models }: Target): string {
  if (models[dialect].plain === undefined)
    return `No model is known: the model list is empty or unusable. Name one:\nmodels:\n  ${dialect}: <model id>`;
  return checkKey(name);
}

/** The cause, and what to do about it, if the response shows one: a missing header, a rejected key, a wrong path or an unknown model. */
function knownCause(
  { name, dialect }: { readonly name: KeyName; readonly dialect: Dialect },
  response: Response,
  { models }: Target,
  list: Response,
): Pick<Symptom, "cause" | "next" | "isOutsideFile"> | undefined {
  const { status = 0, reason } = response;
  const header = headerHint(response);
  if (header !== undefined) return { cause: "extraHeaders", next: header };
  if (status === 401 || status === 403) return { cause: `keys.${name}`, next: checkKey(name) };
  const { plain } = models[dialect];
  if (reason === "model_not_found" && plain !== undefined) {
    const listed = listedModels(list);
    const isUnlisted = listed.length > 0 && !listed.includes(plain);
    const advice = isUnlisted ? suggestedModel(plain, listed) : "Name a model that the gateway serves.";
    return { cause: `models.${dialect}`, next: `models.${dialect} is "${plain}". ${advice}` };
  }
  if (status >= 500 && plain !== undefined)
    return { isOutsideFile: true, next: "The gateway or its provider failed. Check its log." };
  const isWrongPath = [404, 405].includes(status) && [404, 405].includes(list.status ?? 0);
  return isWrongPath && reason !== "model_not_found" ? { cause: "baseUrl", next: "Fix baseUrl first." } : undefined;
}

const checkKey = (name: KeyName): string => `keys.${name} should be served; check what the variable or file contains.`;
