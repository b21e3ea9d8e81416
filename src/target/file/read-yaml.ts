import { readFileSync } from "node:fs";
import { type Document, isMap, isPair, isScalar, LineCounter, parseDocument, type YAMLParseError } from "yaml";
import type * as z from "zod";
import { ConfigError, type ConfigProblem, fileProblem, maskLikely, nearestOf } from "../../core/index.ts";

export interface YamlDocument<T> {
  readonly value: T;
  /** The file as written, before defaults. */
  readonly written: unknown;
  /** Position of a path of the document in the text. */
  place(path: readonly PropertyKey[]): { readonly line: number; readonly column: number } | undefined;
}

/** Reads a file given by the operator. @throws ConfigError with the hint when it cannot be read. */
export function readText(path: string, hint?: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const message = `cannot be read: ${fileProblem(error)}.`;
    throw new ConfigError([{ file: path, path: "", message }], { hint, cause: error });
  }
}

/**
 * Parses a YAML (or JSON) text with a schema.
 *
 * @param file name for messages.
 * @throws ConfigError with every problem: line, column, path, what was expected. Received values are never quoted, because a
 * key that was pasted into the wrong place would end up in a log.
 */
export function readYaml<T>(text: string, file: string, schema: z.ZodType<T>): YamlDocument<T> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
  if (document.errors.length > 0) {
    throw new ConfigError(
      document.errors.filter(isOwnProblem).map((error) => {
        const { line, col } = lines.linePos(error.pos[0]);
        return { file, line, column: col, path: "", message: `not valid YAML: ${describeSyntaxError(error, text)}.` };
      }),
    );
  }
  const place = (path: readonly PropertyKey[]) => {
    const offset = offsetOf(document.contents, path);
    if (offset === undefined) return undefined;
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const written = plainValueOf(document, file);
  const exists = (path: readonly PropertyKey[]) => document.hasIn(path);
  const valueAt = (path: readonly PropertyKey[]): unknown => document.getIn(path);
  const result = schema.safeParse(written);
  if (result.success) return { value: result.data, written, place };
  throw new ConfigError(problemsOfAll(result.error.issues, { file, place, exists, valueAt, schema }));
}

/** @throws ConfigError if a file was given where the other kind is expected, instead of one problem for each of its fields. */
export function assertKind(text: string, file: string, expected: "target file" | "workload file"): void {
  const found = /^baseUrl:/m.test(text) ? "target file" : /^arrivals:/m.test(text) ? "workload file" : expected;
  if (found === expected) return;
  const hint = "Pass the target file with --target, and the workload file as the argument of `gauntlet load`.";
  throw new ConfigError([{ file, path: "", message: `is a ${found}, not a ${expected}.`, hint }]);
}

/**
 * The parser reports a mapping or list in the wrong place first, and then again as a key that is too long; and every token after one
 * that does not belong there.
 */
function isOwnProblem({ code }: YAMLParseError, index: number, errors: readonly YAMLParseError[]): boolean {
  const before = errors[index - 1]?.code;
  if (code === "UNEXPECTED_TOKEN") return before !== code;
  return code !== "MULTILINE_IMPLICIT_KEY" || before !== NESTED;
}

/** A line has the wrong indentation, or an unquoted colon; the parser points at the line before the wrong indentation. */
const NESTED = "BLOCK_AS_IMPLICIT_KEY";

/** What to do about an error, where the parser's message is about its own grammar. */
const SYNTAX_ADVICE: Readonly<Partial<Record<YAMLParseError["code"], string>>> = {
  [NESTED]: 'check the indentation of this line and the next, and quote a value that contains ": "',
  BAD_DQ_ESCAPE: "this backslash does not begin a valid escape; use single quotes",
  BAD_INDENT: "indent this line like the other fields of its section",
  BAD_SCALAR_START: "quote a value that begins with this character",
  BLOCK_IN_FLOW: "separate the items in { } and [ ] with commas",
  MULTILINE_IMPLICIT_KEY: "write `name: value`, with a space after the colon",
  MULTIPLE_DOCS: "the file may have one document only; remove the line `---`",
  TAB_AS_INDENT: "indent with spaces, not with tabs",
  UNEXPECTED_TOKEN: "this does not belong here; check the indentation and the quotes of this line and the one before",
};

function describeSyntaxError({ code, message, pos: [at] }: YAMLParseError, text: string): string {
  if (code === "DUPLICATE_KEY") {
    // Only a complete plain name: a part of one would be wrong, and part of a misplaced key is too short to be masked.
    const [name = ""] = /^[\w.-]+(?=\s*:)/.exec(text.slice(at)) ?? [];
    return name === "" ? "this field occurs twice" : `the field "${maskLikely(name)}" occurs twice`;
  }
  if (code === "BAD_INDENT" && message.startsWith("Flow ")) return "a { or [ before this line is not closed";
  if (code === "MISSING_CHAR" && message.endsWith("quote")) return "a quote is not closed";
  if (code === "MISSING_CHAR" && message.startsWith("Implicit "))
    return SYNTAX_ADVICE.MULTILINE_IMPLICIT_KEY ?? message;
  return SYNTAX_ADVICE[code] ?? message;
}

/** @throws ConfigError for aliases that are undefined, circular, or so frequent that they expand to gigabytes. */
function plainValueOf(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new ConfigError([{ file, path: "", message: "an alias (*) refers to nothing, or to too much." }], {
      cause: error,
    });
  }
}

/** Offset of the node at a path, or of its nearest existing parent; for a member, of its name. */
function offsetOf(root: unknown, path: readonly PropertyKey[]): number | undefined {
  let node = root;
  let offset = rangeStart(node);
  for (const step of path) {
    if (!hasGet(node)) return offset;
    const parent = node;
    node = parent.get(step, true);
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === step);
      if (pair === undefined) return offset;
      offset = rangeStart(pair.key) ?? offset;
    } else {
      offset = rangeStart(node) ?? offset;
    }
  }
  return offset;
}

function hasGet(node: unknown): node is { get(key: unknown, keepScalar: boolean): unknown } {
  return typeof node === "object" && node !== null && "get" in node;
}

function rangeStart(node: unknown): number | undefined {
  if (typeof node !== "object" || node === null || !("range" in node) || !Array.isArray(node.range)) return undefined;
  return typeof node.range[0] === "number" ? node.range[0] : undefined;
}

interface ProblemContext {
  readonly file: string;
  readonly place: (path: readonly PropertyKey[]) => { line: number; column: number } | undefined;
  /** Whether the document has a value at a path. */
  readonly exists: (path: readonly PropertyKey[]) => boolean;
  /** The value at a path, for suggestions. It is never quoted. */
  readonly valueAt: (path: readonly PropertyKey[]) => unknown;
  readonly schema: unknown;
}

type Issue = z.core.$ZodIssue;

/** A field that is missing because its name is misspelt is one problem: the unknown name. */
function problemsOfAll(issues: readonly Issue[], context: ProblemContext): ConfigProblem[] {
  const pathOf = (path: readonly PropertyKey[]) => path.map(String).join(".");
  const misspelt = new Set(
    issues.flatMap((issue) => {
      if (issue.code !== "unrecognized_keys") return [];
      const known = knownHere(issue, context);
      return issue.keys.flatMap((name) => nearestOf(name, known) ?? []).map((name) => pathOf([...issue.path, name]));
    }),
  );
  return issues
    .filter(({ path }) => context.exists(path) || !misspelt.has(pathOf(path)))
    .flatMap((issue) => problemsOf(issue, context));
}

/** Names that are allowed where an issue is. */
const knownHere = ({ path }: Issue, { schema, valueAt }: ProblemContext): string[] =>
  knownMembers(schema, path, (name) => valueAt([...path, name]));

function problemsOf(issue: Issue, context: ProblemContext): ConfigProblem[] {
  const { file, place } = context;
  const at = (path: readonly PropertyKey[], message: string, hint?: string): ConfigProblem => ({
    file,
    ...place(path),
    path: maskLikely(path.map(String).join(".")),
    message,
    hint,
  });
  const meant = (allowed: readonly unknown[]): string | undefined => {
    const written = context.valueAt(issue.path);
    const nearest = typeof written === "string" ? nearestOf(written, allowed.map(String)) : undefined;
    return nearest === undefined ? undefined : `Did you mean "${nearest}"?`;
  };
  if (issue.code === "unrecognized_keys") {
    const known = knownHere(issue, context);
    // A key pasted into the wrong place may look like a field name.
    return issue.keys.map((name) =>
      at(
        [...issue.path, name],
        `unknown field "${maskLikely(name)}".`,
        suggestion(name, known, () => nestedMembers(context.schema, issue.path, known)),
      ),
    );
  }
  // What distinguishes the alternatives has another value, or none. Zod's types do not declare the valid ones.
  const missing = context.exists(issue.path) ? "" : "missing; ";
  if (issue.code === "invalid_union" && "options" in issue && Array.isArray(issue.options)) {
    return [at(issue.path, `${missing}expected ${inWords(issue.options)}.`, meant(issue.options))];
  }
  if (issue.code === "invalid_union") {
    const nested = issue.errors.flat().map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
    const inner = problemsOfAll(nested, context);
    const deepest = inner.filter((problem) => problem.path.length > issue.path.map(String).join(".").length);
    // The intended alternative is the one that matched furthest.
    if (deepest.length > 0) return deepest;
    return [at(issue.path, `${joinAlternatives(inner.map((problem) => problem.message.replace(/\.$/, "")))}.`)];
  }
  if (issue.code === "invalid_value") return [at(issue.path, `${missing}${describe(issue)}.`, meant(issue.values))];
  if (issue.code === "invalid_type" && !context.exists(issue.path)) {
    return [at(issue.path, `missing; expected ${describeType(issue.expected)}.`)];
  }
  const isUnit = issue.code === "invalid_type" && isDuration(context.valueAt(issue.path));
  return [
    at(issue.path, `${describe(issue)}.`, isUnit ? "Remove the unit: the field name already includes it." : undefined),
  ];
}

/** `10s` where a number is expected: the names of fields contain their unit. */
const isDuration = (written: unknown): boolean => typeof written === "string" && /^[\d.]+ ?(?:ms|s|m|h)$/.test(written);

/** `expected a number or "none"`; `expected "none", or must be more than 0`. */
function joinAlternatives(messages: readonly string[]): string {
  const isExpected = (message: string) => message.startsWith(EXPECTED);
  const values = messages.filter(isExpected).map((message) => message.slice(EXPECTED.length));
  const others = messages.filter((message) => !isExpected(message));
  return [...(values.length === 0 ? [] : [`${EXPECTED}${values.join(" or ")}`]), ...others].join(", or ");
}

const EXPECTED = "expected ";

/** `a number`, `an object`. @param type as Zod names it. */
const describeType = (type: string): string => TYPE_NAMES.get(type) ?? `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;

const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ["boolean", "true or false"],
  ["int", "a whole number"],
  ["null", "null"],
  ["record", "an object"],
]);

/** `"constant" or "poisson"`. */
const inWords = (values: readonly unknown[]): string => values.map((value) => JSON.stringify(value)).join(" or ");

function describe(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return `expected ${describeType(issue.expected)}`;
    case "invalid_value":
      return `expected ${inWords(issue.values)}`;
    case "too_small":
      return issue.minimum === 1 && issue.origin === "string"
        ? "must not be empty"
        : `must be ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`;
    default:
      return issue.message;
  }
}

/** Names of the members that an object schema allows at a path. @param written members there; some alternatives do not fit them */
function knownMembers(
  schema: unknown,
  path: readonly PropertyKey[],
  written: (name: string) => unknown = () => undefined,
): string[] {
  let nodes = [schema];
  for (const step of path) nodes = nodes.flatMap((node) => children(node, step));
  const alternatives = nodes.flatMap(unwrap);
  const fitting = alternatives.filter((node) => matchesFixedValues(node, written));
  const names = (fitting.length > 0 ? fitting : alternatives).flatMap((node) => [
    ...Object.keys(shapeOf(node) ?? {}),
    ...recordNames(node),
  ]);
  return [...new Set(names)];
}

/** False if a member with fixed values, such as `kind`, has another value. */
function matchesFixedValues(node: unknown, written: (name: string) => unknown): boolean {
  return Object.entries(shapeOf(node) ?? {}).every(([name, inner]) => {
    const [values, value] = [defOf(inner)?.["values"], written(name)];
    return !Array.isArray(values) || value === undefined || values.includes(value);
  });
}

function children(node: unknown, step: PropertyKey): unknown[] {
  return unwrap(node).flatMap((inner) => {
    const shape = shapeOf(inner);
    if (shape !== undefined) return step in shape ? [shape[step as string]] : [];
    const element = defOf(inner)?.["element"] ?? defOf(inner)?.["valueType"];
    return element === undefined ? [] : [element];
  });
}

/** Unwraps `optional` and unions. */
function unwrap(node: unknown): unknown[] {
  const def = defOf(node);
  if (def === undefined) return [];
  if (def["innerType"] !== undefined) return unwrap(def["innerType"]);
  if (Array.isArray(def["options"])) return def["options"].flatMap(unwrap);
  return [node];
}

function defOf(node: unknown): Record<string, unknown> | undefined {
  if (typeof node !== "object" || node === null || !("def" in node)) return undefined;
  return node.def as Record<string, unknown>;
}

/** Names that a record with a closed set of names allows. */
function recordNames(node: unknown): string[] {
  const entries = defOf(defOf(node)?.["keyType"])?.["entries"];
  return typeof entries === "object" && entries !== null ? Object.keys(entries) : [];
}

function shapeOf(node: unknown): Record<string, unknown> | undefined {
  const shape = defOf(node)?.["shape"];
  return typeof shape === "object" && shape !== null ? (shape as Record<string, unknown>) : undefined;
}

/** Members of the members at a path, each with its own path: a field may be written one level too high. */
function nestedMembers(schema: unknown, path: readonly PropertyKey[], known: readonly string[]): Map<string, string> {
  const nested = new Map<string, string>();
  for (const member of known) {
    const at = [...path, member];
    // Of a list, the members of its first entry.
    for (const inside of [at, [...at, 0]])
      for (const name of knownMembers(schema, inside))
        if (!nested.has(name)) nested.set(name, [...inside, name].join("."));
  }
  return nested;
}

function suggestion(
  name: string,
  known: readonly string[],
  nested: () => ReadonlyMap<string, string>,
): string | undefined {
  if (known.length === 0) return undefined;
  const nearest = nearestOf(name, known);
  if (nearest !== undefined) return `Did you mean "${nearest}"?`;
  const below = nested();
  const inside = below.get(nearestOf(name, below.keys()) ?? "");
  return inside !== undefined ? `Did you mean "${inside}"?` : `Known here: ${known.join(", ")}.`;
}
