import { createHash } from "node:crypto";
import type { RawRequest } from "./request-reader.ts";

/** How an answer ended: whole, broken off as the scenario says, or because the gateway closed its connection first. */
export type UpstreamEnd = "complete" | "broken-off" | "gateway-left";

/** What became of a request; moments in ms since the upstream began, to the microsecond. */
export interface UpstreamRequest {
  /** Ordinal, from 1. */
  readonly id: number;
  readonly provider: string;
  /** Ordinal of the connection: requests on one share it. */
  readonly connection: number;
  /** Requests that came on the connection before. */
  readonly earlier: number;
  readonly receivedMs: number;
  readonly method: string;
  readonly path: string;
  /** In their order; credentials only as a fingerprint, by which two can be compared. */
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

/** Longest body that is kept, bytes, and how many requests are. */
const MAX_KEPT_BYTES = 65_536;
export const MAX_KEPT = 20_000;

const MARKER = /gauntlet-marker-[\w-]{1,64}/;
const CREDENTIALS = /^(?:(?:proxy-)?authorization|x-api-key|api-key|x-goog-api-key|cookie)$/i;

/** A request while it is answered. */
export interface LoggedRequest
  extends Pick<
    UpstreamRequest,
    "id" | "provider" | "connection" | "earlier" | "receivedMs" | "bodyBytes" | "marker" | "attempt"
  > {
  readonly raw: Omit<RawRequest, "body" | "keepAlive">;
  /** A copy: what was read together with it is not kept. */
  readonly body: Buffer;
  status?: number;
  headMs?: number;
  endMs?: number;
  end?: UpstreamEnd;
  sentEvents: number;
}

/** The last requests that came; what is not asked for is not taken apart. */
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
    // In large steps: shifting one by one would move all of them each time.
    if (this.#all.length > MAX_KEPT * 1.25) this.#all.splice(0, this.#all.length - MAX_KEPT);
    return logged;
  }

  /** How many came in all; the oldest may be forgotten. */
  get count(): number {
    return this.#count;
  }

  /** The requests after one, the oldest first; those with a marker alone where one is given. */
  after(id: number, marker?: string): UpstreamRequest[] {
    return this.#all.filter((one) => one.id > id && (marker === undefined || one.marker === marker)).map(shown);
  }

  /** The different credentials that came with a marker, as they are: to hide them, one has to know them. */
  credentialsOf(marker: string): string[] {
    const own = this.#all.filter((one) => one.marker === marker);
    return [...new Set(own.flatMap(({ raw }) => credentialsIn(raw)))];
  }

  clear(): void {
    this.#all.length = 0;
    this.#attempts.clear();
  }
}

/** Whether a text is a marker, and nothing else. */
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

/** The scheme as it is: it says how the key is sent. */
function ofCredential(value: string): string {
  const [, scheme = "", secret = value] = /^(\S+\s+)(.+)$/.exec(value) ?? [];
  return `${scheme}${fingerprint(secret)}`;
}

/** Stands for a credential; the same one gives the same. */
export function fingerprint(secret: string): string {
  return `sha256:${createHash("sha256").update(secret).digest("hex").slice(0, 16)}`;
}
