/** What a program reports about one thing it tried with an SDK. */
export interface ExpectedCall {
  readonly what: string;
  readonly got: unknown;
}

type Language = "js" | "python";

const fact = (what: string, got: unknown): ExpectedCall => ({ what, got });

/** Classes of errors by status; which statuses have a separate class depends on the SDK. */
type Classes = Readonly<Record<401 | 402 | 404 | 429 | 500 | 504, string>>;

const COMMON = {
  401: "AuthenticationError",
  404: "NotFoundError",
  429: "RateLimitError",
  500: "InternalServerError",
} as const;

const CLASSES: Readonly<Record<"chat" | "messages", (language: Language) => Classes>> = {
  chat: (language) => ({
    ...COMMON,
    402: language === "js" ? "APIError" : "APIStatusError",
    504: "InternalServerError",
  }),
  messages: () => ({ ...COMMON, 402: "PaymentRequiredError", 504: "GatewayTimeoutError" }),
};

/** The expected error for every denial and failure, streaming or not: its class, status, reason, request id. */
const errors = (classes: Classes): ExpectedCall[] =>
  (
    [
      ["invalid key", 401, "invalid_api_key"],
      ["revoked key", 401, "key_revoked"],
      ["no credits", 402, "insufficient_credits"],
      ["spend cap", 402, "quota_exceeded"],
      ["budget", 429, "budget_exhausted"],
      ["unknown model", 404, "model_not_found"],
      ["provider fails", 500, "upstream_error"],
      ["provider silent", 504, "upstream_timeout"],
    ] as const
  ).flatMap(([what, status, reason]) =>
    [what, `${what}, stream`].map((name) => fact(name, [classes[status], status, reason, "string"])),
  );

const TOOL = { city: "Paris" };

/** The expected results for every SDK of a dialect. */
export const COMPLETIONS: Readonly<Record<"chat" | "messages", (language: Language) => readonly ExpectedCall[]>> = {
  chat: (language) => [
    fact("models", true),
    fact("whole", ["Grüße, 東京 🚀", "stop", true]),
    fact("request id", "string"),
    fact("stream", [40, true, "stop", true]),
    fact("tool", ["get_weather", TOOL, "tool_calls"]),
    fact("tool stream", ["get_weather", { city: "Oslo" }]),
    ...errors(CLASSES.chat(language)),
    fact("provider interrupts", [true]),
  ],
  messages: (language) => [
    fact("whole", ["Grüße, 東京 🚀", "end_turn", true]),
    fact("request id", "string"),
    fact("system", "system: Be brief.\nuser: Hello"),
    fact("stream", [40, true, "end_turn", true]),
    fact("stream helper", ["again", "end_turn"]),
    fact("tool", ["get_weather", TOOL, "tool_use"]),
    fact("tool stream", ["get_weather", { city: "Oslo" }]),
    ...errors(CLASSES.messages(language)),
    fact("provider interrupts", [true]),
  ],
};
