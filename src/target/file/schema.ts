import * as z from "zod";
import { addressProblem } from "../../core/index.ts";
import { DIALECTS } from "../../dialects/index.ts";
import { DENIALS, PROFILE_NAMES } from "../../requirements/index.ts";
import { actionSchema } from "./action.ts";
import { denialMessage } from "./denial-message.ts";
import { STATES } from "./fixture-names.ts";
import { ledgerSchema } from "./ledger.ts";
import { tokenLimits } from "./token-limits.ts";
import { headerName, keyReference, optional } from "./value-schemas.ts";

/** A non-empty text. */
const text = z.string().min(1);

/** How a gateway expresses a denial differently. All entries are named in the headline of the verdict. */
const contractDenial = z.strictObject({
  status: optional(z.int().min(400).max(599), "The gateway's own status for this denial."),
  reason: optional(
    z.union([text, z.array(text).min(1)]),
    "The gateway's own word for the reason, or several: dialects may differ.",
  ),
  message: optional(
    z.union([denialMessage, z.array(denialMessage).min(1)]),
    "Text that the error body contains, or { pattern: … }, a regular expression that one of its texts matches, or a list of these. Without a reason, the message alone identifies the denial.",
  ),
});

/** How the gateway words its denials, if that differs from the specification. */
const contract = z.strictObject({
  reasonFrom: optional(
    z.union([z.literal("header"), z.string().regex(/^\//, 'must be "header" or a JSON pointer such as /error/type')]),
    "Location of the reason: the header, or a JSON pointer into the error body.",
  ),
  actionHint: optional(z.boolean(), "false: the gateway sends no action hints."),
  denials: optional(
    z.partialRecord(z.enum(DENIALS.map(({ reason }) => reason)), contractDenial),
    "Denials that this gateway expresses differently, by the specification's reason.",
  ),
});

/** Processes, and log files, that are sampled. */
const MAX_PROCESSES = 32;

/** A longer Node timer, beyond 24 days, would fire immediately. */
const DAY_S = 86_400;
const seconds = z.number().positive().max(DAY_S);
const limitNumbers = z.strictObject({
  rpm: z.int().positive().meta({ description: "Requests per minute." }),
  inFlight: z.int().positive().meta({ description: "Requests in flight at once." }),
});
const limits = z
  .union([z.enum(["starter", "growth", "scale"]), limitNumbers])
  .meta({ description: "A tier by name, or the account's own numbers." });

const ownLimit = z.union([z.int().positive(), z.literal("none")]);
/** A gateway without one of the limits can say so. */
const ownLimits = z
  .union([
    z.enum(["starter", "growth", "scale"]),
    z.strictObject({
      rpm: ownLimit.meta({ description: 'Requests per minute; "none" where the gateway has no such limit.' }),
      inFlight: ownLimit.meta({
        description: 'Requests in flight at once; "none" where the gateway has no such limit.',
      }),
    }),
  ])
  .meta({ description: "A tier by name, or the account's own numbers." });

const secondReference = optional(keyReference, "Reference to another active key of the same account.");
const account = z.strictObject({
  key: keyReference,
  second: secondReference,
  limits: ownLimits.refine((own) => typeof own === "string" || own.rpm !== "none" || own.inFlight !== "none", {
    error: "must have a number for one of the limits: with `none` for both, the account cannot show any limit",
  }),
});
const tierAccount = z.strictObject({
  key: keyReference,
  second: secondReference,
  limits: optional(limits, "Default: the tier's."),
});

/** Keys in the states that checks need. `valid` alone is enough to begin with. */
const keys = z.strictObject({
  valid: keyReference.meta({ description: "An active key of an account with balance. The only key that is required." }),
  second: optional(keyReference, "Another active key of the same account."),
  revoked: optional(keyReference, "A revoked key, which was active before."),
  capped: optional(keyReference, "A key that has been at its daily spend cap for over two minutes."),
  cappable: optional(keyReference, "A key with a small daily spend cap that a run may use up."),
  childExhausted: optional(keyReference, "A child key that has used up its lifetime budget."),
  childSmall: optional(keyReference, "A child key with a small lifetime budget that a run may use up."),
  empty: optional(keyReference, "A key of an account without balance."),
  emptySecond: optional(keyReference, "Another key of the account of empty."),
  other: optional(keyReference, "A key of an unrelated account with balance."),
});

const httpAddress = z
  .string()
  .regex(/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/, {
    error: ({ input }) => addressProblem(String(input)),
    abort: true,
  })
  .refine((url) => addressProblem(url) === undefined, { error: ({ input }) => addressProblem(String(input)) });

/** One model for both dialects, or one each. */
const roleModel = z.union([text, z.strictObject({ chat: text.optional(), messages: text.optional() })]);

const models = z.strictObject({
  chat: optional(
    text,
    "Plain model for the chat-completions dialect; default: the first of GET /models that both dialects serve.",
  ),
  messages: optional(
    text,
    "Plain model for the messages dialect; default: the chat model, where this dialect serves it.",
  ),
  stream: optional(roleModel, "A model with a long streaming reply."),
  slow: optional(roleModel, "A model whose reply takes many seconds."),
  tools: optional(roleModel, "A model that responds with a tool call."),
  images: optional(roleModel, "A model that takes images. Unset: not tested."),
  structured: optional(roleModel, "A model with structured outputs. Unset: not tested."),
  echo: optional(roleModel, "A model that repeats the last user message."),
  unknown: optional(roleModel, "A model id that does not exist; default: a made-up one."),
  upstreamError: optional(roleModel, "A model whose provider fails."),
  upstreamTimeout: optional(roleModel, "A model whose provider does not respond in time."),
  cutStream: optional(roleModel, "A model whose provider cuts a stream in the middle."),
});

/** The output of `gauntlet upstream`, and the gateway's configuration for it. */
const upstream = z.strictObject({
  controlUrl: httpAddress.meta({ description: "Address of the control interface, as `gauntlet upstream` prints it." }),
  token: keyReference.meta({ description: "Reference to the control token, as `gauntlet upstream` prints it." }),
  model: optional(roleModel, "A model that these providers serve; default: the plain model."),
  attempts: optional(
    z.int().positive(),
    "Most requests to providers that the gateway makes for one request of a client. Unset: unknown.",
  ),
  failover: optional(
    z.array(text).min(2),
    "Names of two or more of these providers, in the order in which the gateway tries them.",
  ),
  callerKey: optional(
    z.literal("passed-on"),
    "passed-on: the callers' keys are the providers' own, and the gateway passes them on.",
  ),
});

const compat = z.union([
  z.literal("none"),
  z.strictObject({
    chat: optional(z.enum(["openai", "none"]), "Clients of the chat dialect; default openai."),
    messages: optional(z.enum(["anthropic", "none"]), "Clients of the messages dialect; default anthropic."),
  }),
]);

const headerMap = z.record(headerName, z.string());

interface WrittenAddresses {
  readonly baseUrl?: string | undefined;
  readonly addresses?: readonly string[] | undefined;
  readonly addressChoice?: string | undefined;
}

/** What is wrong with the addresses of a file together, with the path. */
function addressesProblems({ baseUrl, addresses, addressChoice }: WrittenAddresses): [PropertyKey[], string][] {
  if (addresses === undefined) {
    return [
      ...(baseUrl === undefined ? [[["baseUrl"], "missing; expected a string"] as [PropertyKey[], string]] : []),
      ...(addressChoice === undefined ? [] : [[["addressChoice"], "requires addresses"] as [PropertyKey[], string]]),
    ];
  }
  const same = addresses.findIndex((url, index) => addresses.map(trimmed).indexOf(trimmed(url)) < index);
  return [
    ...(addresses.length < 2
      ? [[["addresses"], "must have at least two addresses; use baseUrl for one"] as [PropertyKey[], string]]
      : []),
    ...(baseUrl === undefined
      ? []
      : [
          [["baseUrl"], "must be omitted if addresses is given; the first address is the base URL"] as [
            PropertyKey[],
            string,
          ],
        ]),
    ...(same === -1 ? [] : [[["addresses", same], "is a duplicate"] as [PropertyKey[], string]]),
  ];
}

const trimmed = (url: string): string => url.replace(/\/+$/, "").toLowerCase();

export const targetSchema = z
  .strictObject({
    name: optional(text, "Name of the gateway in reports; default: the host of baseUrl."),
    baseUrl: optional(
      httpAddress,
      "Base URL with its version segment, e.g. https://gw.example.test/v1. Required unless addresses is given.",
    ),
    addresses: optional(
      z.array(httpAddress).meta({ minItems: 2 }),
      "Base URLs of the replicas of one service, instead of baseUrl. Each request goes to one of them.",
    ),
    addressChoice: optional(
      z.enum(["round-robin", "random"]),
      "How each request's address is chosen; default round-robin.",
    ),
    headers: optional(
      z.strictObject({
        reason: optional(headerName, "Header with the named reason of a denial; default X-Service-Error-Code."),
        action: optional(headerName, "Header with the action hint of a denial; default X-Service-Action."),
        version: optional(headerName, "Version header of the messages dialect; default anthropic-version."),
        versionValue: optional(
          z.string().regex(/^\d{4}-\d{2}-\d{2}$/, "must be a date, YYYY-MM-DD"),
          "Value of the version header; default 2023-06-01.",
        ),
      }),
      "Names of the headers that the specification leaves to the gateway, and the version date.",
    ),
    extraHeaders: optional(
      z.strictObject({
        all: optional(headerMap, "Sent with every request."),
        models: optional(headerMap, "Sent when listing models; replaces a header of the same name in all."),
        chat: optional(headerMap, "Sent with chat completions; replaces a header of the same name in all."),
        messages: optional(headerMap, "Sent with messages; replaces a header of the same name in all."),
      }),
      "Fixed headers that some gateways need. A value may be a reference, env:NAME or file:PATH.",
    ),
    dialects: optional(
      z.array(z.enum(DIALECTS)).min(1),
      "Dialects that the gateway serves: [chat], [messages], or both, which is the default. What needs another one is not applicable, and the first line of the verdict says so.",
    ),
    contract: optional(
      contract,
      "What this gateway expresses differently. Runs judge by it, and the first line of every verdict names it.",
    ),
    keys: keys.meta({ description: "References to keys, by the state of the key." }),
    models: optional(models, "Model ids by role."),
    limits: optional(
      ownLimits,
      'Limits of the account of valid: starter, growth, scale, or { rpm, inFlight }, each a number or "none" where the gateway has no such limit: a declared gap. Unset: unknown.',
    ),
    limited: optional(
      z.array(account),
      "Accounts set aside for limit checks. The smaller the limits, the shorter the checks.",
    ),
    tokenLimits: optional(
      tokenLimits,
      "A limit on tokens per minute, and how the gateway counts; the suite token-limits needs it. Unset: not tested.",
    ),
    tiers: optional(
      z.strictObject({
        starter: tierAccount.optional(),
        growth: tierAccount.optional(),
        scale: tierAccount.optional(),
      }),
      "One account for each tier that exists.",
    ),
    upstream: optional(
      upstream,
      "The providers behind the gateway, if `gauntlet upstream` runs them; the upstream suite needs them.",
    ),
    ledger: optional(
      ledgerSchema,
      "Where the gateway records requests, their tokens and their cost; the suite ledger needs it. Unset: not tested.",
    ),
    provision: optional(
      z.strictObject({
        command: text.meta({ description: "Command line, run by the shell in the folder of the target file." }),
        timeoutS: optional(seconds, "Seconds after which a call is stopped; default 60."),
      }),
      "Command that makes keys in a state on demand.",
    ),
    skip: optional(
      z.partialRecord(z.enum(STATES), text),
      "States that cannot be provided, each with the reason. The verdict is then partial.",
    ),
    requirementSet: optional(
      z.int().positive(),
      "Requirement set to judge by; newer requirements are shown but not scored. Default: the newest.",
    ),
    gateway: optional(
      z.strictObject({
        version: optional(text, "Exact version, such as a release, an image digest or a commit."),
        startedWith: optional(text, "The command line or the manifest that it was started with, without secrets."),
      }),
      "Which build of the gateway this is; a claim names it.",
    ),
    profiles: optional(
      z.array(z.enum(PROFILE_NAMES)).min(1),
      "Profiles that the gateway claims: a run must meet these, and other results are shown but do not affect the exit code. Default: none; all requirements count.",
    ),
    compat: optional(compat, 'Which real clients to check for beyond the specification; "none": no such checks.'),
    budget: optional(
      z.strictObject({
        requests: optional(
          z.int().positive(),
          "Maximum number of requests that one command sends, load included; default 10,000, on loopback 1,000,000.",
        ),
        outputTokens: optional(
          z.int().positive(),
          "Maximum number of output tokens, estimated if the gateway does not count them; default 2,000,000, on loopback 200,000,000.",
        ),
      }),
      "Upper bounds for everything that one command sends. A load whose plan exceeds one is rejected, checks that do not fit are blocked, and a search stops when the budget is used up.",
    ),
    circuit: optional(
      z.union([
        z.literal("off"),
        z.strictObject({
          failedShare: optional(
            z.number().positive().max(1),
            "Share of failed requests at which load stops; default 0.9.",
          ),
          requests: optional(z.int().min(5), "Number of latest requests that the share is taken of; default 50."),
        }),
      ]),
      "Stops load when the target fails nearly every request: 5xx, resets, timeouts. off: load continues.",
    ),
    prices: optional(
      z.strictObject({
        inputPerMTok: z.number().nonnegative().meta({ description: "Price of a million input tokens." }),
        outputPerMTok: z.number().nonnegative().meta({ description: "Price of a million output tokens." }),
        currency: optional(z.string().regex(/^[A-Z]{3}$/, "must be three capital letters"), "Default USD."),
      }),
      "Prices of the plain model: the plan of a load then says what it may cost.",
    ),
    disturb: optional(
      z.record(z.string().regex(/^[A-Za-z][A-Za-z0-9-]*$/, "must be letters, digits and dashes"), actionSchema),
      "Actions that the events of a workload can perform on the gateway, by name: restart, kill, stopStore, startStore, …",
    ),
    processes: optional(
      z
        .strictObject({
          pidFiles: optional(
            z.array(z.string().min(1)).min(1).max(MAX_PROCESSES),
            "Files with the id of each process of the gateway on this machine; relative to this file.",
          ),
          logs: optional(
            z.array(z.string().min(1)).min(1).max(MAX_PROCESSES),
            "Log files that it writes; relative to this file.",
          ),
        })
        .refine(({ pidFiles, logs }) => pidFiles !== undefined || logs !== undefined, {
          message: "must have pidFiles, logs, or both",
        }),
      "Processes and log files of the gateway on this machine that `gauntlet load` samples (CPU time: Linux only), for events that limit the cost of a request.",
    ),
    authorized: optional(z.boolean(), "true: load may go to a host that is not loopback."),
    http: optional(
      z.union([z.literal(1), z.literal(2)]),
      "HTTP version that load is sent over; without TLS, 2 is spoken by prior knowledge. Default: 2 where the TLS handshake chooses it, else 1.1. Conformance checks are sent over 1.1.",
    ),
    timeouts: optional(
      z.strictObject({
        responseS: optional(seconds, "Longest wait for a complete response; default 60."),
        idleS: optional(seconds, "Longest silence within a response; default 20."),
      }),
      "How long a response may take.",
    ),
  })
  .superRefine((file, context) => {
    for (const [path, message] of addressesProblems(file)) context.addIssue({ code: "custom", path, message });
  })
  .meta({
    title: "Gauntlet target",
    description: "A gateway to be judged, and what may be used for it.",
    oneOf: [{ required: ["baseUrl"] }, { required: ["addresses"] }],
  });

export type TargetFile = z.infer<typeof targetSchema>;

/** The JSON Schema that editors use; published as `schemas/target.schema.json`. */
export function targetJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(targetSchema) as Record<string, unknown>;
}
