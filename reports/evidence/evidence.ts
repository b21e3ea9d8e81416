import * as z from "zod";

const headers = z.array(z.tuple([z.string(), z.string()]));

const bodySchema = z.object({
  text: z.string().optional(),
  base64: z.string().optional(),
  bytes: z.number(),
  pieces: z.array(z.tuple([z.number(), z.number()])),
});

const evidenceSchema = z.object({
  requested: z
    .object({ endpoint: z.string().optional(), mode: z.string().optional(), intent: z.string().optional() })
    .default({}),
  exchange: z.object({
    id: z.string(),
    key: z.string().optional(),
    request: z.object({
      method: z.string(),
      url: z.string(),
      headers,
      body: z.string().optional(),
      bodyBytes: z.number().optional(),
    }),
    timeline: z.object({ dueUs: z.number(), sentUs: z.number().optional(), endUs: z.number() }),
    ending: z.object({ kind: z.string(), detail: z.string().optional() }),
    response: z.object({ status: z.number(), headers, trailers: headers.default([]), body: bodySchema }).optional(),
  }),
});

export type RecordedBody = z.infer<typeof bodySchema>;

/** The parts of a recorded exchange that a report shows; redacted when recorded. */
export interface Evidence extends Readonly<z.infer<typeof evidenceSchema>["exchange"]> {
  readonly requested: Readonly<z.infer<typeof evidenceSchema>["requested"]>;
}

/**
 * Reads a line of `exchanges.ndjson.gz`. Fields that a report does not show may be missing or malformed, so that records of any
 * age can be shown.
 *
 * @returns `undefined` when the line does not hold an exchange.
 */
export function readEvidence(line: unknown): Evidence | undefined {
  const result = evidenceSchema.safeParse(line);
  return result.success ? { requested: result.data.requested, ...result.data.exchange } : undefined;
}

/** Value of a header; names are case-insensitive. */
export function headerOf(evidence: Evidence, name: string): string | undefined {
  const lower = name.toLowerCase();
  return evidence.response?.headers.find(([given]) => given.toLowerCase() === lower)?.[1];
}

/** Headers that gateways use for request ids; the first one present is used. */
const ID_HEADERS = ["x-request-id", "request-id", "x-amzn-requestid", "cf-ray"];

export function requestIdOf(evidence: Evidence): string | undefined {
  return ID_HEADERS.map((name) => headerOf(evidence, name)).find((value) => value !== undefined);
}

/** The status, or how the exchange ended without one. */
export function outcomeOf({ response, ending }: Evidence): string {
  if (response === undefined) return ending.detail === undefined ? ending.kind : `${ending.kind}: ${ending.detail}`;
  return ending.kind === "complete" ? String(response.status) : `${response.status}, then ${ending.kind}`;
}
