interface CompatRequirement {
  readonly id: string;
  /** Who needs it. */
  readonly source: string;
  readonly text: string;
}

/** What real clients need beyond the specification and the standards. */
export const COMPAT_ROWS = [
  {
    id: "COMPAT-CONTENT-TYPE",
    source: "OpenAI and Anthropic SDKs",
    text: "Whole replies are labelled `application/json`, streams `text/event-stream`.",
  },
] as const satisfies readonly CompatRequirement[];
