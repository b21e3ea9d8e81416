import { createHash } from "node:crypto";
import type { Level } from "./requirement.ts";
import { type RequirementId, requirementOf } from "./requirements.ts";

/**
 * Parts of a target file that declare something that not every gateway has. What a profile requires of such a part applies only
 * if the target declares it.
 */
export const OPTIONAL_PARTS = [
  "dialects.both",
  "ledger",
  "ledger.prices",
  "models.chat.images",
  "models.chat.structured",
  "models.messages.images",
  "models.messages.structured",
  "tiers",
  "tokenLimits",
  "upstream.attempts",
  "upstream.failover",
] as const;
export type OptionalPart = (typeof OPTIONAL_PARTS)[number];

export interface ProfileRequirement {
  readonly id: RequirementId;
  /** Level within the profile; never lower than the requirement's own. */
  readonly level: Level;
  /** Applies only if the target declares this part. */
  readonly part?: OptionalPart;
}

/** A named, frozen set of requirements: what a gateway claims to support. */
export interface Profile {
  readonly name: string;
  /** Raised whenever the hash changes. */
  readonly version: number;
  readonly title: string;
  /** Why these requirements belong together. */
  readonly why: string;
  /** Only checks of this dialect, or of no dialect in particular, count. Absent: both dialects. */
  readonly dialect?: "chat" | "messages";
  /** Suites whose checks must all have judged the requirements. A violation counts wherever it is seen. */
  readonly suites: readonly string[];
  readonly requirements: readonly ProfileRequirement[];
  /** Checks that count only if the target declares a part. */
  readonly optionalChecks: Readonly<Record<string, OptionalPart>>;
}

interface Definition extends Omit<Profile, "requirements" | "optionalChecks"> {
  /** Requirements at their own level. */
  readonly requires: readonly RequirementId[];
  /** Requirements that are MUST in this profile, although they are SHOULD in general. */
  readonly raises?: readonly RequirementId[];
  readonly optional?: Readonly<Partial<Record<OptionalPart, readonly RequirementId[]>>>;
  /** The optional requirements are MUST as well. */
  readonly raisesOptional?: true;
  readonly optionalChecks?: Readonly<Record<string, OptionalPart>>;
}

/** What every SDK needs, in its dialect. */
const SDK_REQUIREMENTS = [
  "COMPAT-CONTENT-TYPE",
  "COMPAT-REQUEST-ID",
  "COMPAT-REPLY-ID",
  "COMPAT-ERROR-BODY",
  "COMPAT-FRAMING",
  "COMPAT-STREAM-ERROR",
  "COMPAT-USAGE",
  "COMPAT-REPLY-MODEL",
  "COMPAT-TOOLS",
  "COMPAT-TOOL-RESULT",
  "STREAM-3",
  "STREAM-4",
] as const satisfies readonly RequirementId[];

const DEFINITIONS: readonly Definition[] = [
  {
    name: "chat",
    version: 1,
    title: "Chat completions",
    why: "A client of the chat-completions dialect sends conversations and gets complete replies with token counts, under the documented base address.",
    dialect: "chat",
    suites: ["service", "chat"],
    requires: [
      "BASE-1",
      "BASE-3",
      "VER-1",
      "CHAT-1",
      "CHAT-2",
      "CHAT-3",
      "CHAT-4",
      "CHAT-5",
      "CHAT-6",
      "CHAT-7",
      "CHAT-10",
      "ERR-200-1",
    ],
  },
  {
    name: "messages",
    version: 1,
    title: "Messages",
    why: "A client of the messages dialect sends conversations with a system prompt and the dated version header, and gets complete replies with token counts.",
    dialect: "messages",
    suites: ["service", "messages"],
    requires: [
      "BASE-1",
      "BASE-3",
      "VER-1",
      "VER-2",
      "MSG-1",
      "MSG-2",
      "MSG-3",
      "MSG-4",
      "MSG-5",
      "MSG-6",
      "MSG-7",
      "MSG-9",
      "MSG-10",
      "ERR-200-1",
    ],
  },
  {
    name: "models-and-auth",
    version: 1,
    title: "Model list and keys",
    why: "A client finds the models that it can call, and only active keys are accepted.",
    suites: ["service", "auth", "models", "security", "robustness"],
    requires: [
      "MODELS-1",
      "MODELS-2",
      "MODELS-3",
      "MODELS-4",
      "MODELS-5",
      "AUTH-1",
      "AUTH-2",
      "AUTH-3",
      "AUTH-4",
      "AUTH-5",
      "SEC-3",
      "BEARER-SCHEME",
      "BEARER-PLACE",
    ],
    optional: { "dialects.both": ["BASE-2"] },
  },
  {
    name: "denials",
    version: 1,
    title: "Named denials",
    why: "A client decides from the status and the named reason of a denial whether to wait, stop or escalate to a human, so every denial must have the right status and reason, including on streams.",
    suites: ["service", "auth", "errors", "limits"],
    requires: [
      "BASE-4",
      "ERR-HDR-1",
      "ERR-HDR-2",
      "ERR-HDR-3",
      "ERR-BODY-1",
      "ERR-BODY-2",
      "ERR-BODY-6",
      "ERR-200-1",
      "ERR-401-INVALID",
      "ERR-401-REVOKED",
      "ERR-402-CREDITS",
      "ERR-402-QUOTA",
      "ERR-404-MODEL",
      "ERR-404-1",
      "ERR-429-RATE",
      "ERR-429-CONC",
      "ERR-429-BUDGET",
      "ERR-5XX-1",
      "STREAM-2",
      "REFUSED-IN-TIME",
      "BAD-BODY",
      "UPSTREAM-TIMEOUT",
    ],
  },
  {
    name: "limits",
    version: 1,
    title: "Rate and concurrency limits",
    why: "An account gets what its limits promise, no more and no less, and every denial says how long to wait.",
    suites: ["limits", "retry-after", "token-limits"],
    requires: [
      "LIMIT-1",
      "LIMIT-5",
      "LIMIT-RATE-1",
      "LIMIT-RATE-2",
      "LIMIT-RATE-3",
      "LIMIT-RATE-4",
      "LIMIT-RATE-5",
      "LIMIT-RATE-6",
      "LIMIT-RATE-7",
      "LIMIT-CONC-1",
      "LIMIT-CONC-2",
      "LIMIT-CONC-3",
      "LIMIT-CONC-4",
      "LIMIT-CONC-5",
      "LIMIT-CONC-6",
      "LIMIT-CONC-7",
      "LIMIT-CHANGE",
      "ERR-429-RATE",
      "ERR-429-CONC",
      "HTTP-RETRY-AFTER-FORM",
      "HTTP-RETRY-AFTER",
    ],
    optional: {
      tiers: ["LIMIT-2"],
      tokenLimits: [
        "TOKENS-ENFORCED",
        "TOKENS-NOT-EARLY",
        "TOKENS-AT-ONCE",
        "TOKENS-DENIAL",
        "TOKENS-RETRY-AFTER",
        "TOKENS-REMAINING",
      ],
    },
    optionalChecks: { "limits.tier-rates": "tiers", "limits.tier-concurrency": "tiers" },
  },
  {
    name: "money",
    version: 1,
    title: "Balances, caps and budgets",
    why: "What an account or a key may spend is a hard bound: it blocks every kind of paid request, it blocks nothing else, and failed requests cost nothing. Where the gateway shows what it charged, each request is charged once, at its price.",
    suites: ["spending", "ledger"],
    requires: [
      "SPEND-2",
      "SPEND-3",
      "SPEND-4",
      "SPEND-5",
      "SPEND-6",
      "SPEND-7",
      "SPEND-8",
      "SPEND-9",
      "SPEND-10",
      "SPEND-12",
      "SPEND-13",
      "ERR-402-CREDITS",
      "ERR-402-QUOTA",
      "ERR-429-BUDGET",
    ],
    optional: {
      ledger: ["LEDGER-ONCE", "LEDGER-TOKENS", "LEDGER-USAGE", "LEDGER-TOTALS", "LEDGER-LAG"],
      "ledger.prices": ["LEDGER-COST"],
    },
    optionalChecks: {
      "ledger.charged": "ledger",
      "ledger.failures": "ledger",
      "ledger.once": "ledger",
      "ledger.tokens": "ledger",
      "ledger.usage": "ledger",
      "ledger.totals": "ledger",
      "ledger.lag": "ledger",
      "ledger.cost": "ledger.prices",
      "ledger.models": "ledger.prices",
      "ledger.rounding": "ledger.prices",
    },
  },
  {
    name: "streaming",
    version: 1,
    title: "Streaming",
    why: "A client sees the complete reply as it is produced, and can tell when it ends. A stream that loses text or never ends is useless to a streaming client, so both requirements are MUST here.",
    suites: ["streaming"],
    requires: ["STREAM-1"],
    raises: ["STREAM-3", "STREAM-4"],
  },
  {
    name: "upstream",
    version: 1,
    title: "Providers behind the gateway",
    why: "What a caller sends reaches the provider, what the provider sends reaches the caller, neither side sees the other's keys, and a failing provider costs the caller neither money nor replies.",
    suites: ["upstream"],
    requires: [
      "ERR-5XX-1",
      "UPSTREAM-CALLER-KEY",
      "UPSTREAM-OWN-KEY",
      "UPSTREAM-CONVERSATION",
      "UPSTREAM-PARAMETERS",
      "UPSTREAM-RETRY-BOUNDED",
      "UPSTREAM-BLIND-RETRY",
      "UPSTREAM-CANCEL",
      "UPSTREAM-AFTER-LEFT",
      "UPSTREAM-USAGE",
      "UPSTREAM-REPLY",
      "UPSTREAM-LONG-EVENT",
      "UPSTREAM-STREAMED",
      "UPSTREAM-BROKEN",
      "UPSTREAM-BACKPRESSURE",
      "UPSTREAM-KEEP-ALIVE",
    ],
    optional: {
      "upstream.attempts": ["UPSTREAM-ATTEMPTS"],
      "upstream.failover": ["UPSTREAM-FAILOVER", "UPSTREAM-SAME-MODEL"],
    },
    optionalChecks: { "upstream.failover": "upstream.failover" },
  },
  {
    name: "replicas",
    version: 1,
    title: "Several addresses of one service",
    why: "Limits, balances and keys belong to the account, so they must hold across all addresses of the service.",
    suites: ["replicas"],
    requires: [
      "AUTH-1",
      "AUTH-4",
      "LIMIT-1",
      "LIMIT-RATE-6",
      "LIMIT-CONC-2",
      "LIMIT-CONC-4",
      "MODELS-4",
      "SPEND-2",
      "SPEND-7",
      "SPEND-8",
      "ERR-402-CREDITS",
      "ERR-402-QUOTA",
      "ERR-429-BUDGET",
      "REPLICA-KEYS",
      "REPLICA-ISOLATION",
    ],
  },
  {
    name: "http",
    version: 1,
    title: "HTTP and JSON",
    why: "Any correct HTTP client, proxy and JSON parser can talk to the gateway, no client request can take it down, and no caller receives another caller's reply.",
    suites: ["robustness"],
    requires: [
      "HTTP-FRAMING",
      "HTTP-CODING",
      "HTTP-ACCEPT-ENCODING",
      "HTTP-ALLOW",
      "HTTP-HEAD",
      "HTTP-KEEP-ALIVE",
      "HTTP-METHOD",
      "HTTP-UNKNOWN-HEADER",
      "HTTP-URL",
      "HTTP-EXPECT",
      "HTTP-INTERIM",
      "HTTP-SERVER-ERROR",
      "JSON-UTF8",
      "JSON-TEXT",
      "RESPONSE-BEFORE-CLOSE",
      "SAME-REQUEST",
      "ANSWER-IN-TIME",
      "NO-SECRETS",
      "OWN-ANSWER",
      "TEXT-INTACT",
      "COUNTS-ADD-UP",
      "STEADY-SERVICE",
      "STEADY-LATENCY",
      "KEEPS-RESPONDING",
      "REASON-ON-SUCCESS",
    ],
  },
  {
    name: "openai-sdk",
    version: 1,
    title: "OpenAI SDKs",
    why: "The OpenAI SDKs, and the agents built on them, depend on reply fields that the specification does not promise. The fields they need are MUST here.",
    dialect: "chat",
    suites: ["chat", "models", "streaming", "compat"],
    requires: ["BASE-3", "CHAT-1", "CHAT-2", "CHAT-3", "CHAT-4", "CHAT-7", "MODELS-1", "MODELS-2", "STREAM-1"],
    raises: [
      ...SDK_REQUIREMENTS,
      "COMPAT-CHAT-REPLY",
      "COMPAT-CHAT-TURNS",
      "COMPAT-CHAT-CHUNKS",
      "COMPAT-CHAT-FINISH",
      "COMPAT-CHAT-DONE",
      "COMPAT-CHAT-USAGE",
      "COMPAT-MODELS",
    ],
    optional: { "models.chat.images": ["COMPAT-IMAGES"], "models.chat.structured": ["COMPAT-STRUCTURED"] },
    raisesOptional: true,
  },
  {
    name: "anthropic-sdk",
    version: 1,
    title: "Anthropic SDKs",
    why: "The Anthropic SDKs, and the agents built on them, stream by default, send their own key header, and depend on reply fields that the specification does not promise. The fields they need are MUST here.",
    dialect: "messages",
    suites: ["auth", "service", "messages", "streaming", "compat"],
    requires: ["BASE-3", "MSG-1", "MSG-2", "MSG-3", "MSG-7", "MSG-10"],
    raises: [...SDK_REQUIREMENTS, "COMPAT-BOTH-KEYS", "COMPAT-MSG-REPLY", "COMPAT-MSG-EVENTS", "COMPAT-MSG-STREAM"],
    optional: { "models.messages.images": ["COMPAT-IMAGES"], "models.messages.structured": ["COMPAT-STRUCTURED"] },
    raisesOptional: true,
  },
];

/** Requirements of the gateway with a level that are in no profile, and why. */
export const UNPROFILED: Readonly<Partial<Record<RequirementId, string>>> = {
  "CAP-1": "Which capabilities a model has is for its provider to say.",
  "SPEND-1": "No comparison of its own: SPEND-2 judges what follows from it.",
};

export const PROFILES: readonly Profile[] = DEFINITIONS.map(
  ({ requires, raises = [], optional = {}, raisesOptional, optionalChecks = {}, ...definition }) => ({
    ...definition,
    optionalChecks,
    requirements: [
      ...requires.map((id) => ({ id, level: requirementOf(id).level })),
      ...raises.map((id) => ({ id, level: "MUST" as const })),
      ...OPTIONAL_PARTS.flatMap((part) =>
        (optional[part] ?? []).map((id) => ({
          id,
          level: raisesOptional === true ? ("MUST" as const) : requirementOf(id).level,
          part,
        })),
      ),
    ],
  }),
);

export const PROFILE_NAMES: readonly string[] = PROFILES.map(({ name }) => name);

export function profileNamed(name: string): Profile | undefined {
  return PROFILES.find((profile) => profile.name === name);
}

/** SHA-256 of everything that decides the result of a profile: its requirements with their levels, and what must judge them. */
export function profileHash({ name, version, dialect, suites, requirements, optionalChecks }: Profile): string {
  const sets = {
    name,
    version,
    dialect: dialect ?? null,
    suites: [...suites].sort(),
    requirements: requirements.map(({ id, level, part }) => [id, level, part ?? null].join(" ")).sort(),
    optionalChecks: Object.entries(optionalChecks)
      .map((entry) => entry.join(" "))
      .sort(),
  };
  return createHash("sha256").update(JSON.stringify(sets)).digest("hex");
}
