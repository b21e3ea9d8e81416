import { describeObserved } from "../../reports/text/index.ts";
import { groupBy } from "../core/index.ts";
import type { CheckResult, Comparison } from "../record/index.ts";

/** The parts of a response whose form is compared; made from a recorded exchange. */
export interface ComparedResponse {
  /** Kind of request: endpoint, mode, and whether it was meant to be valid. */
  readonly kind: string;
  readonly status: number;
  readonly reason: string | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** JSON documents of the body: one, or one per event. */
  readonly documents: readonly unknown[];
  /** Text of an error, if there is one. */
  readonly message: string | undefined;
}

/** A side's behaviour: its responses, and its check results with the responses that each check saw. */
export interface Behaviour {
  readonly checks: readonly CheckResult[];
  /** By exchange id. */
  readonly responses: ReadonlyMap<string, ComparedResponse>;
  /** Ids of the checks that send nothing and judge the traffic of the whole run. */
  readonly invariants?: ReadonlySet<string>;
}

type Difference = Comparison["drift"][number];

/** Longer values are not an enumeration that a client could rely on. */
const MAX_VALUE_CHARACTERS = 200;
/** A header counts as constant after this many responses with the same value. */
const CONSTANT_AFTER = 3;

/**
 * What differs in the responses: statuses and reasons by check and kind of request, observed requirements by check, and headers, fields
 * and error texts by kind of response.
 *
 * @param control the first side again: where it differs from itself, the builds are not considered different.
 */
export function driftBetween(a: Behaviour, b: Behaviour, control?: Behaviour): Difference[] {
  const noise = new Set(control === undefined ? [] : differences(a, control).map(placeOf));
  return differences(a, b).filter((difference) => !noise.has(placeOf(difference)));
}

function placeOf({ kind, where, what }: Difference): string {
  return JSON.stringify([kind, where, what]);
}

function differences(a: Behaviour, b: Behaviour): Difference[] {
  return [...byCheck(a, b), ...byResponse(a, b)];
}

function byCheck(a: Behaviour, b: Behaviour): Difference[] {
  const later = new Map(b.checks.map((check) => [check.id, check]));
  return a.checks.flatMap((check): Difference[] => {
    const now = later.get(check.id);
    if (now === undefined) return [];
    // By content: requests of several kinds may differ in the same way, which is one difference.
    const found = new Map<string, Difference>();
    const add = (kind: Difference["kind"], what: string, before: ReadonlySet<string>, after: ReadonlySet<string>) => {
      if (before.size === 0 || after.size === 0 || same(before, after)) return;
      const difference = { kind, where: check.id, what, before: listed(before), now: listed(after) };
      found.set(JSON.stringify(difference), difference);
    };
    const [first, second] = [byKind(check, a), byKind(now, b)];
    for (const [kind, before] of first) {
      const after = second.get(kind) ?? [];
      const of = kind.slice(kind.indexOf(", ") + 2);
      add("status", `status (${of})`, statusesOf(before), statusesOf(after));
      add("reason", `reason (${of})`, reasonsOf(before), reasonsOf(after));
    }
    const requirements = new Set(
      [...check.findings, ...now.findings]
        .filter(({ outcome }) => outcome === "observed")
        .flatMap(({ requirements }) => requirements),
    );
    for (const requirement of requirements)
      add("observed", requirement, observedOf(check, requirement), observedOf(now, requirement));
    return [...found.values()];
  });
}

/** The responses of a check by kind of request. The request under test and its control request are usually of different kinds. */
function byKind({ exchanges }: CheckResult, { responses }: Behaviour): Map<string, readonly ComparedResponse[]> {
  return groupBy(
    exchanges.flatMap((id) => responses.get(id) ?? []),
    ({ kind }) => kind,
  );
}

const statusesOf = (responses: readonly ComparedResponse[]): Set<string> =>
  new Set(responses.map(({ status }) => String(status)));

const reasonsOf = (responses: readonly ComparedResponse[]): Set<string> =>
  new Set(responses.map(({ reason = "none" }) => reason));

function observedOf({ findings }: CheckResult, requirement: string): Set<string> {
  return new Set(
    findings
      .filter((finding) => finding.requirements.includes(requirement) && finding.outcome === "observed")
      .map(({ observed }) => withoutVolatileParts(describeObserved(observed))),
  );
}

/**
 * A text without the parts that vary between runs: durations, dates, ids, and counts such as "3 of 3". They are not behaviour.
 */
function withoutVolatileParts(text: string): string {
  return text
    .replace(/("(?:\w*(?:ms|Ms|seconds|Us)|s)":)-?\d+(?:\.\d+)?/g, '$1"<time>"')
    .replace(/\d+(?:\.\d+)? ?(?:ms|\u00b5s|us|s|sec|seconds?|min|minutes?)\b/g, "<time>")
    .replace(/\b\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?/g, "<time>")
    .replace(/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} \w{3} \d{4} [\d:]{8} GMT\b/g, "<time>")
    .replace(/\b(?:dur|duration|elapsed|took)=\d+(?:\.\d+)?/g, "<time>")
    .replace(/\b1\d{9}(?:\d{3})?\b/g, "<time>")
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<id>")
    .replace(/\bgx[0-9a-f]+n[0-9a-z]+z\b/g, "<id>")
    .replace(/\b(\d+) of \1\b/g, "all of <count>");
}

/** Headers whose values reflect a moment, a message or a state, never a behaviour. */
const PASSING: ReadonlySet<string> = new Set([
  "age",
  "content-length",
  "date",
  "etag",
  "expires",
  "last-modified",
  "request-id",
  "retry-after",
  "server-timing",
  "set-cookie",
  "x-request-id",
  "x-response-time",
  "x-runtime",
]);

/** What responses of one kind have in common. */
interface Form {
  count: number;
  readonly headers: Map<string, Part>;
  /** Their values are types. */
  readonly fields: Map<string, Part>;
  readonly messages: Set<string>;
}

/** How many responses had a header or field, and with which values. */
interface Part {
  seen: number;
  readonly values: Set<string>;
}

function formsOf({ responses }: Behaviour): Map<string, Form> {
  const forms = new Map<string, Form>();
  for (const { kind, status, reason, headers, documents, message } of responses.values()) {
    const key = `${kind}, status ${[status, ...(reason === undefined ? [] : [reason])].join(" ")}`;
    const form = forms.get(key) ?? { count: 0, headers: new Map(), fields: new Map(), messages: new Set() };
    forms.set(key, form);
    form.count++;
    for (const [name, values] of grouped(headers))
      note(form.headers, name, withoutVolatileParts(values.slice(0, MAX_VALUE_CHARACTERS)));
    const fields = new Map<string, string>();
    for (const document of documents) collectFields(document, "", fields);
    for (const [path, type] of fields) note(form.fields, path, type);
    if (message !== undefined) form.messages.add(withoutVolatileParts(message));
  }
  return forms;
}

function note(parts: Map<string, Part>, name: string, value: string): void {
  const part = parts.get(name) ?? { seen: 0, values: new Set() };
  parts.set(name, part);
  part.seen++;
  part.values.add(value);
}

function grouped(headers: ComparedResponse["headers"]): Map<string, string> {
  const byName = new Map<string, string>();
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    byName.set(lower, byName.has(lower) ? `${byName.get(lower)}, ${value}` : value);
  }
  return byName;
}

/** Maximum nesting depth that is compared; anything deeper is payload. */
const DEEPEST = 8;

/** Paths of the fields of a document with their types; members of a list share one path. */
function collectFields(value: unknown, path: string, fields: Map<string, string>, depth = 0): void {
  if (depth > DEEPEST) return;
  if (Array.isArray(value)) {
    for (const member of value) collectFields(member, `${path}[]`, fields, depth + 1);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    const place = `${path}/${name}`;
    const type = inner === null ? "null" : Array.isArray(inner) ? "list" : typeof inner;
    // In a stream, a field may be null in one event and a string in the next: both belong to its form.
    fields.set(place, fields.has(place) && fields.get(place) !== type ? "several types" : type);
    collectFields(inner, place, fields, depth + 1);
  }
}

function byResponse(a: Behaviour, b: Behaviour): Difference[] {
  const later = formsOf(b);
  return [...formsOf(a)].flatMap(([where, before]): Difference[] => {
    const now = later.get(where);
    if (now === undefined) return [];
    const texts: Difference[] =
      before.messages.size > 0 && now.messages.size > 0 && !same(before.messages, now.messages)
        ? [{ kind: "text", where, what: "error text", before: listed(before.messages), now: listed(now.messages) }]
        : [];
    return [...headerDifferences(where, before, now), ...fieldDifferences(where, before, now), ...texts];
  });
}

function headerDifferences(where: string, before: Form, now: Form): Difference[] {
  return partDifferences("header", where, [before, now], (name, was, is) => {
    const constant = ({ seen, values }: Part) => seen >= CONSTANT_AFTER && values.size === 1;
    if (PASSING.has(name) || !constant(was) || !constant(is) || same(was.values, is.values)) return [];
    return [{ kind: "header", where, what: name, before: listed(was.values), now: listed(is.values) }];
  });
}

function fieldDifferences(where: string, before: Form, now: Form): Difference[] {
  return partDifferences("field", where, [before, now], (path, was, is) => {
    if (overlap(was.values, is.values)) return [];
    return [{ kind: "shape", where, what: path, before: listed(was.values), now: listed(is.values) }];
  });
}

/** For each header or field: whether it is present, and if it is on both sides, what else differs. */
function partDifferences(
  kind: "header" | "field",
  where: string,
  [before, now]: readonly [Form, Form],
  compare: (what: string, was: Part, is: Part) => Difference[],
): Difference[] {
  const parts = `${kind}s` as const;
  return [...new Set([...before[parts].keys(), ...now[parts].keys()])].flatMap((what): Difference[] => {
    const [was, is] = [before[parts].get(what), now[parts].get(what)];
    // Always present on one side and never on the other: anything in between may be chance.
    if (was?.seen === before.count && is === undefined)
      return [{ kind, where, what, before: "present", now: "absent" }];
    if (was === undefined && is?.seen === now.count) return [{ kind, where, what, before: "absent", now: "present" }];
    return was === undefined || is === undefined ? [] : compare(what, was, is);
  });
}

function same(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((value) => b.has(value));
}

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return [...a].some((value) => b.has(value));
}

function listed(values: ReadonlySet<string>): string {
  const sorted = [...values].sort();
  const shown = sorted.slice(0, 5).map((value) => value.slice(0, MAX_VALUE_CHARACTERS));
  return sorted.length > 5 ? `${shown.join(", ")} and ${sorted.length - 5} more` : shown.join(", ");
}
