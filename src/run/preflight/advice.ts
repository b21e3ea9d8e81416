import type { Response } from "../../checks/index.ts";
import { type ConnectionAdvice, capitalized, nearestOf } from "../../core/index.ts";
import type { Target } from "../../target/index.ts";
import { describeResponse, headerHint } from "./gateway-message.ts";

/** What is wrong, and the next step. */
export interface Advice extends ConnectionAdvice {
  /** A problem only for target files that name no model. */
  readonly withoutModel?: boolean;
}

/** What the first response of a gateway implies about the target file, if it is not a model list. */
export function listAdvice(target: Target, list: Response): Advice | undefined {
  if (list.admitted && list.json !== undefined) return undefined;
  const { status = 0 } = list;
  if (status >= 300 && status < 400) {
    const to = list.header("location")?.slice(0, 200) ?? "another address";
    return {
      cause: `it redirects to ${to}, and redirects are never followed`,
      next: "Put the address that it redirects to into baseUrl.",
    };
  }
  if (status === 407)
    return { cause: "a proxy in between requires a login", next: "Reach the gateway without that proxy." };
  const header = headerHint(list);
  if (header !== undefined) return { cause: `the model list was refused (${describeResponse(list)})`, next: header };
  if (status === 401 || status === 403) {
    return {
      cause: `the key "valid" was refused (${describeResponse(list)})`,
      next: "Check the variable or file that keys.valid names: it must contain only the key, of an account with balance.",
    };
  }
  if (
    status === 400 &&
    /plain HTTP request was sent to HTTPS port|client sent an HTTP request to an HTTPS server/i.test(list.text)
  ) {
    return { cause: "the port speaks TLS", next: "Write https:// in baseUrl." };
  }
  if (status === 404 || status === 405) return pathAdvice(new URL(target.baseUrl));
  if (/html/i.test(list.header("content-type") ?? "")) {
    return {
      cause: `a web page instead of a model list (${status})`,
      next: "A login page or a proxy is in the way, or baseUrl points at a website.",
    };
  }
  if (status === 502 || status === 503 || status === 504) {
    return {
      cause: `it may be asleep or starting (${describeResponse(list)})`,
      next: "Wait for it, or send one request by hand, and start again.",
    };
  }
  if (list.admitted)
    return { cause: "the model list is not JSON", next: "baseUrl may point at something that is not a gateway." };
  return {
    cause: `the model list is not served (${describeResponse(list)})`,
    next: "Its log says why. If models.chat names a model, no list is needed to begin.",
    withoutModel: true,
  };
}

/** Advice for a base URL that has no model list below it. */
function pathAdvice({ pathname, origin }: URL): Advice {
  const wrong = /\/(chat\/completions|messages|models)\/?$/.exec(pathname);
  if (wrong !== null)
    return {
      cause: `the path in baseUrl ends in ${wrong[0]}`,
      next: "Omit the endpoint: baseUrl ends with the version, such as /v1.",
    };
  const cause = `there is no model list at ${pathname.replace(/\/$/, "")}/models`;
  return /\/v\d+\/?$/.test(pathname)
    ? {
        cause,
        next: `Correct the path in baseUrl: it must end with the version that the gateway serves, such as ${origin}/v1.`,
      }
    : { cause, next: `baseUrl should end with the version, such as ${origin}/v1.` };
}

/** What is wrong with the models of a target, according to the gateway's list. */
export function modelAdvice(target: Target, listed: readonly string[]): Advice[] {
  if (listed.length === 0) return [];
  const named = target.dialects.flatMap((dialect) =>
    Object.entries(target.models[dialect]).map(([role, id]) => ({ id, role, dialect })),
  );
  const missing = named.filter(({ role, id }) => role !== "unknown" && !listed.includes(id));
  const byId = new Map(missing.map((model) => [`${model.role} ${model.id}`, model]));
  return [...byId.values()].map(({ role, id, dialect }) => ({
    cause: `models.${role === "plain" ? dialect : role} is "${id}", which is not in the model list`,
    next: suggestedModel(id, listed),
  }));
}

/** Which model may have been meant. */
export function suggestedModel(model: string, listed: readonly string[]): string {
  const nearest = nearestOf(model, listed);
  if (nearest !== undefined) return `Did you mean "${nearest}"?`;
  return `${listed.length} models are listed, beginning with "${listed[0]}".`;
}

/** Advice as two sentences. */
export function adviceSentences({ cause, next }: Advice): string {
  return `${capitalized(cause)}. ${next}`;
}

/** Advice as one line. Parts may come from the gateway, so control characters are replaced. */
export function adviceLine({ cause, next }: Advice): string {
  return `note: ${cause}. ${next}`.replace(/\p{Cc}+/gu, " ");
}
