import { createHash } from "node:crypto";
import type { RawRequest } from "./request-reader.ts";

/**
 * How a response ended: completely, interrupted according to the scenario, or because the gateway closed its connection first.
 */
export type UpstreamEnd = "complete" | "broken-off" | "gateway-left";

/** A request and its outcome; times in ms since the upstream started, to the microsecond. */
export interface UpstreamRequest {
  /** Ordinal, from 1. */
  readonly id: number;
  readonly provider: string;
  /** Ordinal of the connection: requests on one share it. */
  readonly connection: number;
  /** Earlier requests on the connection. */
  readonly earlier: number;
  readonly receivedMs: number;
  readonly method: string;
  readonly path: string;
  /** In order; credentials only as a fingerprint for comparison. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** As sent, up to `MAX_KEPT_BYTES` bytes, without the credentials of the head. */
  readonly body: string;
  readonly bodyBytes: number;
  /** Marker of the client's request (`gauntlet-marker-…`), from a header or from the prompt, and which attempt of it this is. */
  readonly marker: string | undefined;
  readonly attempt: number | undefined;
  readonly status: number | undefined;
  readonly headMs: number | undefined;
  readonly endMs: number | undefined;
  readonly end: UpstreamEnd | undefined;
  readonly sentEvents: number;
}

/** Longest body that is kept, bytes, and the maximum number of requests. */
const MAX_KEPT_BYTES = 65_536;
export const MAX_KEPT = 20_000;

const MARKER = /gauntlet-marker-[\w-]{1,64}/;
const CREDENTIALS = /^(?:(?:proxy-)?authorization|x-api-key|api-key|x-goog-api-key|cookie)$/i;

/** A request in progress. */
export interface LoggedRequest
  extends Pick<
    UpstreamRequest,
    "id" | "provider" | "connection" | "earlier" | "receivedMs" | "bodyBytes" | "marker" | "attempt"
  > {
  readonly raw: Omit<RawRequest, "body" | "keepAlive">;
  /** A copy, so that the buffer it was read with can be freed. */
  readonly body: Buffer;
  status?: number;
  headMs?: number;
  endMs?: number;
  end?: UpstreamEnd;
  sentEvents: number;
}

/** The most recent requests; parsed only on demand. */
export class RequestLog {
  readonly #all: LoggedRequest[] = [];
  readonly #attempts = new Map<string, number>();
  #count = 0;

  add(raw: RawRequest, at: Pick<UpstreamRequest, "provider" | "connection" | "earlier" | "receivedMs">): LoggedRequest {
    const { method, path, head, body } = raw;
    const marker = markerOf(head, body);
    const attempt = marker === undefined ? undefined : (this.#attempts.get(marker) ?? 0) + 1;
    if (marker !== undefined && attempt !== undefined) this.#attempts.set(marker, attempt);
    const logged: LoggedRequest = {
      id: ++this.#count,
      ...at,
      raw: { method, path, head },
      body: Buffer.from(body.subarray(0, MAX_KEPT_BYTES)),
      bodyBytes: body.length,
      marker,
      attempt,
      sentEvents: 0,
    };
    this.#all.push(logged);
    // In large steps: removing one at a time would move all others each time.
    if (this.#all.length > MAX_KEPT * 1.25) this.#all.splice(0, this.#all.length - MAX_KEPT);
    return logged;
  }

  /** Total number of requests, including dropped ones. */
  get count(): number {
    return this.#count;
  }

  /** The requests after a given one, oldest first; only those with the marker if one is given. */
  after(id: number, marker?: string): UpstreamRequest[] {
    return this.#all.filter((one) => one.id > id && (marker === undefined || one.marker === marker)).map(shown);
  }

  /** The distinct unmasked credentials that were sent with a marker: masking them requires knowing them. */
  credentialsOf(marker: string): string[] {
    const own = this.#all.filter((one) => one.marker === marker);
    return [...new Set(own.flatMap(({ raw }) => credentialsIn(raw)))];
  }

  clear(): void {
    this.#all.length = 0;
    this.#attempts.clear();
  }
}

/** Whether a text is exactly a marker. */
export function isMarker(text: string): boolean {
  return MARKER.exec(text)?.[0] === text;
}

function markerOf(head: string, body: Buffer): string | undefined {
  const inHead = MARKER.exec(head)?.[0];
  if (inHead !== undefined || body.indexOf("gauntlet-marker-") < 0) return inHead;
  const at = body.indexOf("gauntlet-marker-");
  return MARKER.exec(body.toString("latin1", at, at + 100))?.[0];
}

/** Credentials in the head of a request, without their scheme. */
export function credentialsIn({ head }: Pick<RawRequest, "head">): string[] {
  return fieldsIn(head)
    .filter(([name]) => CREDENTIALS.test(name))
    .map(([, value]) => value.replace(/^\S+\s+/, ""))
    .filter((secret) => secret.length > 3);
}

function shown({ raw, body, ...logged }: LoggedRequest): UpstreamRequest {
  const { id, provider, connection, earlier, receivedMs, bodyBytes, marker, attempt } = logged;
  const { status, headMs, endMs, end, sentEvents } = logged;
  const fields = fieldsIn(raw.head);
  const secrets = credentialsIn(raw);
  const hidden = (text: string) => secrets.reduce((left, secret) => left.replaceAll(secret, fingerprint(secret)), text);
  return {
    ...{ id, provider, connection, earlier, receivedMs },
    method: raw.method,
    path: hidden(raw.path),
    headers: fields.map(
      ([name, value]) => [name, CREDENTIALS.test(name) ? ofCredential(value) : hidden(value)] as const,
    ),
    body: hidden(body.toString("utf8")),
    ...{ bodyBytes, marker, attempt, status, headMs, endMs, end, sentEvents },
  };
}

const fieldsIn = (head: string) => head.split("\r\n").slice(1).map(fieldIn);

function fieldIn(line: string): readonly [name: string, value: string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

/** Keeps the scheme, which shows how the key is sent. */
function ofCredential(value: string): string {
  const [, scheme = "", secret = value] = /^(\S+\s+)(.+)$/.exec(value) ?? [];
  return `${scheme}${fingerprint(secret)}`;
}

/** A stable substitute for a credential. */
export function fingerprint(secret: string): string {
  return `sha256:${createHash("sha256").update(secret).digest("hex").slice(0, 16)}`;
}
