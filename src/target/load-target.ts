import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ConfigError, type ConfigFault, messageOf } from "../core/index.ts";
import { Key } from "./key.ts";
import { readYaml, type YamlDocument } from "./read-yaml.ts";
import { type TargetFile, TIERS, type Tier, targetSchema } from "./schema.ts";
import type { Account, KeyName, Limits, ModelRole, Target } from "./target.ts";

/** Environment variables, as a parameter so that tests need not change their own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a target file.
 *
 * @throws ConfigError with all faults at once: syntax, unknown fields, wrong types, literal keys, unset variables,
 *   unreadable key files.
 */
export function loadTarget(path: string, environment: Environment): Target {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError([{ file: path, path: "", message: `cannot be read: ${messageOf(error)}.` }], {
      hint: "Name a target file with --target, or leave the option out to use the embedded gateway.",
      cause: error,
    });
  }
  return parseTarget(text, path, environment);
}

export function parseTarget(text: string, path: string, environment: Environment): Target {
  const document = readYaml(text, path, targetSchema);
  const references = new References(document, path, environment);
  const target = resolveTarget(document.value, document.written, path, references);
  references.throwIfAny();
  return target;
}

/** Resolves references and gathers what went wrong, so that every unset variable is named at once. */
class References {
  readonly #document: YamlDocument<TargetFile>;
  readonly #file: string;
  readonly #environment: Environment;
  readonly #faults: ConfigFault[] = [];

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
    if (this.#faults.length > 0) throw new ConfigError(this.#faults);
  }

  #read(reference: string, path: readonly PropertyKey[]): string | undefined {
    const [kind, ...rest] = reference.split(":");
    const place = rest.join(":");
    const value = kind === "env" ? this.#environment[place] : this.#file_(place, path);
    if (value !== undefined && value.trim() !== "") return this.#checked(value.trim(), path);
    if (kind === "env") {
      this.#fault(
        path,
        `environment variable ${place} is ${value === undefined ? "not set" : "empty"}.`,
        `Set it: export ${place}=…`,
      );
    } else if (value !== undefined) {
      this.#fault(path, `file ${place} is empty.`);
    }
    return undefined;
  }

  /** A key with a line break or a control character cannot be sent in a header; better said here than by the socket. */
  #checked(value: string, path: readonly PropertyKey[]): string | undefined {
    if (/^bearer\s/i.test(value) && path[0] !== "extraHeaders") {
      this.#fault(path, 'holds "Bearer" before the key.', "Leave the scheme out: the key alone belongs there.");
      return undefined;
    }
    const quoted = /^(["'`]).*\1$/.test(value);
    if (quoted) {
      this.#fault(path, "holds quotation marks around the key.", "Leave them out, or check how the variable is set.");
      return undefined;
    }
    if (/^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(value)) return value;
    this.#fault(path, "holds characters that cannot be sent in a header.", "A key is one line of visible ASCII.");
    return undefined;
  }

  #file_(place: string, path: readonly PropertyKey[]): string | undefined {
    try {
      return readFileSync(resolve(dirname(this.#file), place), "utf8");
    } catch (error) {
      this.#fault(path, `key file cannot be read: ${messageOf(error)}.`);
      return undefined;
    }
  }

  #fault(path: readonly PropertyKey[], message: string, hint?: string): void {
    this.#faults.push({
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
  const extraSecrets: Key[] = [];
  const extra = (part: keyof Target["extraHeaders"]) =>
    Object.entries(file.extraHeaders?.[part] ?? {}).map(([name, text]) => {
      const { value, secret } = references.value(text, ["extraHeaders", part, name]);
      if (secret) extraSecrets.push(new Key(`header.${name}`, value));
      return [name, value] as const;
    });
  const accountOf = (
    { key, second, limits }: { key: string; second?: string | undefined; limits: Limits | Tier },
    path: readonly (string | number)[],
  ): Account => ({
    key: references.key(`${path.join(".")}.key`, key, [...path, "key"]),
    second: second === undefined ? undefined : references.key(`${path.join(".")}.second`, second, [...path, "second"]),
    limits: limitsOf(limits),
  });
  const { models = {} } = file;
  const chat = models.chat;
  const { plain, messagesModels } = modelsByDialect(models);
  const compat = file.compat === "none" ? { chat: "none" as const, messages: "none" as const } : file.compat;
  return {
    name: file.name ?? new URL(file.baseUrl).host,
    source,
    baseUrl: file.baseUrl,
    headers: {
      reason: file.headers?.reason ?? "X-Service-Error-Code",
      action: file.headers?.action ?? "X-Service-Action",
      version: file.headers?.version ?? "anthropic-version",
      versionValue: file.headers?.versionValue ?? "2023-06-01",
    },
    extraHeaders: { all: extra("all"), models: extra("models"), chat: extra("chat"), messages: extra("messages") },
    extraSecrets,
    contract: file.contract ?? {},
    keys,
    models: { ...plain, ...(models.messages === undefined && chat !== undefined ? { messages: chat } : {}) },
    messagesModels,
    limits: file.limits === undefined ? undefined : limitsOf(file.limits),
    limited: (file.limited ?? []).map((account, index) => accountOf(account, ["limited", index])),
    tiers: Object.fromEntries(
      tiersOf(file).map(([tier, account]) => [
        tier,
        accountOf({ ...account, limits: account.limits ?? tier }, ["tiers", tier]),
      ]),
    ),
    provision: file.provision,
    skip: Object.fromEntries(Object.entries(file.skip ?? {}).filter(([, reason]) => reason !== undefined)),
    compat: { chat: compat?.chat ?? "openai", messages: compat?.messages ?? "anthropic" },
    requirementSet: file.requirementSet,
    budget: { requests: file.budget?.requests ?? 5_000, outputTokens: file.budget?.outputTokens ?? 2_000_000 },
    authorized: file.authorized ?? false,
    http: file.http ?? "offered",
    prices: file.prices && { ...file.prices, currency: file.prices.currency ?? "USD" },
    circuit: circuitOf(file.circuit),
    timeouts: {
      answerMs: (file.timeouts?.answerS ?? 60) * 1_000,
      idleMs: (file.timeouts?.idleS ?? 20) * 1_000,
    },
    configuration: written,
  };
}

/** Fifty requests are a second of a scale account; nine in ten leave room for the few that still get through. */
export function circuitOf(written: TargetFile["circuit"]): Target["circuit"] {
  if (written === "off") return undefined;
  return { failedShare: written?.failedShare ?? 0.9, requests: written?.requests ?? 50 };
}

/** The model of each role, and what the messages dialect has instead. */
function modelsByDialect(models: NonNullable<TargetFile["models"]>): Pick<Target, "messagesModels"> & {
  readonly plain: Partial<Record<ModelRole, string>>;
} {
  const plain: Partial<Record<ModelRole, string>> = {};
  const messagesModels: Partial<Record<ModelRole, string>> = {};
  for (const [role, model] of Object.entries(models) as [ModelRole, string | { chat?: string; messages?: string }][]) {
    const { chat, messages } = typeof model === "string" ? { chat: model, messages: model } : model;
    const first = chat ?? messages;
    if (first !== undefined) plain[role] = first;
    if (messages !== undefined && messages !== first) messagesModels[role] = messages;
  }
  return { plain, messagesModels };
}

function tiersOf({ tiers = {} }: TargetFile) {
  return (Object.keys(TIERS) as Tier[]).flatMap((tier) => {
    const account = tiers[tier];
    return account === undefined ? [] : [[tier, account] as const];
  });
}

function limitsOf(limits: Limits | Tier): Limits {
  return typeof limits === "string" ? TIERS[limits] : limits;
}
