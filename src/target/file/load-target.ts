import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ConfigError, type ConfigProblem, didYouMeanPath, readSecret } from "../../core/index.ts";
import { DIALECTS } from "../../dialects/index.ts";
import { Key } from "../key.ts";
import { type Account, isLoopback, type KeyName, type Limits, type Target, type UpstreamTarget } from "../target.ts";
import { resolveAction } from "./action.ts";
import type { State } from "./fixture-names.ts";
import { type LedgerTarget, ledgerOf, type WrittenLedger } from "./ledger.ts";
import { assertKind, readText, readYaml, type YamlDocument } from "./read-yaml.ts";
import { type TargetFile, targetSchema } from "./schema.ts";
import { TIERS, type Tier } from "./tiers.ts";
import { tokenLimitsOf } from "./token-limits.ts";

/** Environment variables, as a parameter so that tests need not change their own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a target file.
 *
 * @throws ConfigError with all problems at once: syntax, unknown fields, wrong types, literal keys, unset variables,
 *   unreadable key files.
 */
export function loadTarget(path: string, environment: Environment): Target {
  const next = "Name a target file with --target, or use --target embedded.";
  const hint = existsSync(path) ? next : didYouMeanPath(path) + next;
  const text = readText(path, hint);
  assertKind(text, path, "target file");
  return parseTarget(text, path, environment);
}

export function parseTarget(text: string, path: string, environment: Environment): Target {
  const document = readYaml(text, path, targetSchema);
  const references = new References(document, path, environment);
  const target = resolveTarget(document.value, document.written, path, references);
  references.throwIfAny();
  return target;
}

/** The environment, with a placeholder for every variable that is not set: for loading a target file when its keys are not needed. */
export const withPlaceholders = (environment: Environment): Environment =>
  new Proxy(environment, { get: (known, name) => Reflect.get(known, name) || `not-set-${String(name)}` });

/** Resolves references and collects the problems, so that all unset variables are reported at once. */
class References {
  readonly #document: YamlDocument<TargetFile>;
  readonly #file: string;
  readonly #environment: Environment;
  readonly #problems: ConfigProblem[] = [];

  constructor(document: YamlDocument<TargetFile>, file: string, environment: Environment) {
    this.#document = document;
    this.#file = file;
    this.#environment = environment;
  }

  key(name: string, reference: string, path: readonly PropertyKey[]): Key {
    return new Key(name, this.#read(reference, path) ?? "");
  }

  /** A header value that may be a reference. */
  value(text: string, path: readonly PropertyKey[]): { readonly value: string; readonly secret: boolean } {
    if (!/^(env|file):/.test(text)) return { value: text, secret: false };
    return { value: this.#read(text, path) ?? "", secret: true };
  }

  throwIfAny(): void {
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
  }

  #read(reference: string, path: readonly PropertyKey[]): string | undefined {
    const { value, problem, hint } = readSecret(reference, {
      environment: this.#environment,
      folder: dirname(this.#file),
      kind: path[0] === "extraHeaders" ? "header" : "key",
    });
    if (problem !== undefined) this.#problem(path, problem, hint);
    return value;
  }

  #problem(path: readonly PropertyKey[], message: string, hint?: string): void {
    this.#problems.push({
      file: this.#file,
      ...this.#document.place(path),
      path: path.map(String).join("."),
      message,
      hint,
    });
  }
}

function resolveTarget(file: TargetFile, written: unknown, source: string, references: References): Target {
  const keys = Object.fromEntries(
    Object.entries(file.keys)
      .filter((entry): entry is [string, string] => entry[1] !== undefined)
      .map(([name, reference]) => [name, references.key(name, reference, ["keys", name])]),
  ) as Partial<Record<KeyName, Key>> & { valid: Key };
  const accountOf = (
    { key, second, limits }: { key: string; second?: string | undefined; limits: NonNullable<TargetFile["limits"]> },
    path: readonly (string | number)[],
  ): Account => ({
    key: references.key(`${path.join(".")}.key`, key, [...path, "key"]),
    second: second === undefined ? undefined : references.key(`${path.join(".")}.second`, second, [...path, "second"]),
    limits: limitsOf(limits),
  });
  // The schema requires one of them.
  const baseUrl = file.baseUrl ?? file.addresses?.[0] ?? "";
  const compat = file.compat === "none" ? { chat: "none" as const, messages: "none" as const } : file.compat;
  return {
    name: file.name ?? new URL(baseUrl).host,
    source,
    baseUrl,
    addresses: file.addresses && { urls: file.addresses, choice: file.addressChoice ?? "round-robin" },
    headers: {
      reason: file.headers?.reason ?? "X-Service-Error-Code",
      action: file.headers?.action ?? "X-Service-Action",
      version: file.headers?.version ?? "anthropic-version",
      versionValue: file.headers?.versionValue ?? "2023-06-01",
    },
    ...extraHeadersOf(file, references),
    dialects: DIALECTS.filter((dialect) => file.dialects?.includes(dialect) ?? true),
    contract: file.contract ?? {},
    keys,
    models: modelsByDialect(file.models),
    limits: file.limits === undefined ? undefined : limitsOf(file.limits),
    limited: (file.limited ?? []).map((account, index) => accountOf(account, ["limited", index])),
    tiers: Object.fromEntries(
      tiersOf(file).map(([tier, account]) => [
        tier,
        accountOf({ ...account, limits: account.limits ?? tier }, ["tiers", tier]),
      ]),
    ),
    tokenLimits: file.tokenLimits && tokenLimitsOf(file.tokenLimits, tokenKey(file.tokenLimits.key, references)),
    ledger: file.ledger && ledgerIn(file.ledger, source, references),
    provision: file.provision,
    skip: {
      ...undeclaredLimits(file),
      ...Object.fromEntries(Object.entries(file.skip ?? {}).filter(([, reason]) => reason !== undefined)),
    },
    compat: { chat: compat?.chat ?? "openai", messages: compat?.messages ?? "anthropic" },
    requirementSet: file.requirementSet,
    profiles: file.profiles ?? [],
    budget: { ...defaultBudget(file.addresses ?? [baseUrl]), ...definedOf(file.budget) },
    authorized: file.authorized ?? false,
    disturb: Object.fromEntries(
      Object.entries(file.disturb ?? {}).map(([name, written]) => [name, resolveAction(written, source)]),
    ),
    processes: file.processes && {
      pidFiles: (file.processes.pidFiles ?? []).map((name) => resolve(dirname(source), name)),
      logs: (file.processes.logs ?? []).map((name) => resolve(dirname(source), name)),
    },
    http: file.http ?? "offered",
    prices: file.prices && { ...file.prices, currency: file.prices.currency ?? "USD" },
    circuit: circuitOf(file.circuit),
    timeouts: { responseMs: (file.timeouts?.responseS ?? 60) * 1_000, idleMs: (file.timeouts?.idleS ?? 20) * 1_000 },
    upstream: file.upstream && upstreamOf(file.upstream, references),
    configuration: written,
  };
}

/** Default budgets: small for other hosts, large enough for any plan on loopback. */
const BUDGETS = {
  others: { requests: 10_000, outputTokens: 2_000_000 },
  loopback: { requests: 1_000_000, outputTokens: 200_000_000 },
} as const;

export function defaultBudget(urls: readonly string[]): Target["budget"] {
  return urls.every(isLoopback) ? BUDGETS.loopback : BUDGETS.others;
}

function definedOf(budget: TargetFile["budget"] = {}): Partial<Target["budget"]> {
  const { requests, outputTokens } = budget;
  return { ...(requests !== undefined && { requests }), ...(outputTokens !== undefined && { outputTokens }) };
}

function extraHeadersOf(file: TargetFile, references: References): Pick<Target, "extraHeaders" | "extraSecrets"> {
  const extraSecrets: Key[] = [];
  const extra = (part: keyof Target["extraHeaders"]) =>
    Object.entries(file.extraHeaders?.[part] ?? {}).map(([name, text]) => {
      const { value, secret } = references.value(text, ["extraHeaders", part, name]);
      if (secret) extraSecrets.push(new Key(`header.${name}`, value));
      return [name, value] as const;
    });
  const extraHeaders = {
    all: extra("all"),
    models: extra("models"),
    chat: extra("chat"),
    messages: extra("messages"),
  };
  return { extraHeaders, extraSecrets };
}

/** Fifty requests are one second of a scale account; nine in ten tolerates the few that still succeed. */
export function circuitOf(written: TargetFile["circuit"]): Target["circuit"] {
  if (written === "off") return undefined;
  return { failedShare: written?.failedShare ?? 0.9, requests: written?.requests ?? 50 };
}

/** The plain models by dialect; for the other roles, one id is used for both dialects. */
export function modelsByDialect({ chat, messages, ...roles }: TargetFile["models"] = {}): Target["models"] {
  const of = (dialect: keyof Target["models"], plain: string | undefined) => {
    const ids = Object.entries(roles).map(([role, id]) => [role, typeof id === "string" ? id : id?.[dialect]]);
    return Object.fromEntries([["plain", plain], ...ids].filter(([, id]) => id !== undefined));
  };
  return { chat: of("chat", chat), messages: of("messages", messages) };
}

function tokenKey(reference: string | undefined, references: References): Key | undefined {
  return reference === undefined ? undefined : references.key("tokenLimits.key", reference, ["tokenLimits", "key"]);
}

function ledgerIn(file: WrittenLedger, source: string, references: References): LedgerTarget {
  const resolved = (name: "token" | "key") => {
    const reference = file[name];
    return reference === undefined ? undefined : references.key(`ledger.${name}`, reference, ["ledger", name]);
  };
  return ledgerOf(file, source, { token: resolved("token"), key: resolved("key") });
}

type UpstreamFile = NonNullable<TargetFile["upstream"]>;

function upstreamOf(file: UpstreamFile, references: References): UpstreamTarget {
  return {
    controlUrl: file.controlUrl,
    token: references.key("upstream.token", file.token, ["upstream", "token"]),
    models: upstreamModels(file.model),
    attempts: file.attempts,
    failover: file.failover ?? [],
    passesCallerKey: file.callerKey === "passed-on",
  };
}

function upstreamModels(model: UpstreamFile["model"]): UpstreamTarget["models"] {
  if (model === undefined) return {};
  const named = typeof model === "string" ? { chat: model, messages: model } : model;
  return Object.fromEntries(Object.entries(named).filter(([, id]) => id !== undefined));
}

function tiersOf({ tiers = {} }: TargetFile) {
  return (Object.keys(TIERS) as Tier[]).flatMap((tier) => {
    const account = tiers[tier];
    return account === undefined ? [] : [[tier, account] as const];
  });
}

/** Limits that the gateway does not have are infinite. */
function limitsOf(limits: NonNullable<TargetFile["limits"]>): Limits {
  if (typeof limits === "string") return TIERS[limits];
  const number = (limit: number | "none") => (limit === "none" ? Number.POSITIVE_INFINITY : limit);
  return { rpm: number(limits.rpm), inFlight: number(limits.inFlight) };
}

/** Limits that a gateway may not have, and the states that are then unavailable. */
const LIMIT_STATES = { rpm: "limited.rate", inFlight: "limited.concurrency" } as const;

/** A limit that is declared as nonexistent is a declared gap, unless some account has it. */
function undeclaredLimits({ limits, limited = [] }: TargetFile): Partial<Record<State, string>> {
  const isNone = (of: TargetFile["limits"], kind: keyof Limits) => typeof of === "object" && of[kind] === "none";
  const gaps: Partial<Record<State, string>> = {};
  for (const kind of ["rpm", "inFlight"] as const) {
    if (limited.length === 0) {
      if (isNone(limits, kind)) gaps[LIMIT_STATES[kind]] = `the target declares limits.${kind}: none`;
    } else if (
      limited.every((account) => isNone(account.limits, kind)) &&
      (limits === undefined || isNone(limits, kind))
    )
      gaps[LIMIT_STATES[kind]] = `every account under limited declares limits.${kind}: none`;
  }
  return gaps;
}
