/** A query as Prisma's engine takes it in its JSON protocol, and under which name its result is wanted. */
export interface EngineQuery {
  readonly alias: string;
  readonly body: {
    readonly modelName: string | undefined;
    readonly action: string;
    readonly query: { readonly arguments: Fields; readonly selection: Fields };
  };
}

export type Fields = Record<string, unknown>;

/** Longer names first where one begins with another. */
const ACTIONS = [
  "findUniqueOrThrow",
  "findFirstOrThrow",
  "findUnique",
  "findFirst",
  "findMany",
  "createOne",
  "createManyAndReturn",
  "createMany",
  "updateOne",
  "updateMany",
  "upsertOne",
  "deleteOne",
  "deleteMany",
  "aggregate",
  "groupBy",
  "queryRaw",
  "executeRaw",
];

const NAME = /[A-Za-z_$][\w$]*/y;
const NUMBER = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y;
const SPACE = /[\s,]*/y;
const WORDS: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };

/**
 * Reads the GraphQL text that Prisma's client for Python speaks, of which the engine's WebAssembly build knows only the
 * JSON form.
 *
 * @throws SyntaxError for text that is no such query.
 */
export function readGraphql(text: string): EngineQuery {
  let at = 0;

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? [];
    at += found?.length ?? 0;
    return found;
  };
  const next = () => {
    match(SPACE);
    return text[at];
  };
  const fail = (what: string): never => {
    throw new SyntaxError(`${what} expected at ${at}: ${text.slice(at, at + 60)}`);
  };
  const took = (letter: string): boolean => {
    const here = next() === letter;
    if (here) at += 1;
    return here;
  };
  const take = (letter: string) => took(letter) || fail(letter);
  const name = (): string => {
    match(SPACE);
    return match(NAME) ?? fail("a name");
  };

  const string = (): string => {
    const begin = at;
    for (at += 1; text[at] !== '"'; at += text[at] === "\\" ? 2 : 1) if (at >= text.length) fail('"');
    at += 1;
    // Line breaks stand in its strings as they are, which JSON does not allow.
    const escaped = text
      .slice(begin, at)
      .replace(/\p{Cc}/gu, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
    return JSON.parse(escaped);
  };
  const value = (): unknown => {
    const letter = next();
    if (letter === '"') return string();
    if (took("[")) {
      const items: unknown[] = [];
      while (!took("]")) items.push(value());
      return items;
    }
    if (letter === "{") return members("{", "}");
    const digits = match(NUMBER);
    if (digits !== undefined) return Number(digits);
    const word = name();
    return word in WORDS ? WORDS[word] : word;
  };
  const members = (open: string, close: string): Fields => {
    const fields: Fields = {};
    take(open);
    while (!took(close)) {
      const key = next() === '"' ? string() : name();
      take(":");
      fields[key] = value();
    }
    return fields;
  };
  const argumentsHere = () => (next() === "(" ? members("(", ")") : {});
  const selection = (): Fields => {
    const fields: Fields = {};
    take("{");
    while (!took("}")) {
      const field = name();
      const passed = argumentsHere();
      const inner = next() === "{" ? selection() : undefined;
      const plain = inner === undefined && Object.keys(passed).length === 0;
      fields[field] = plain ? true : { arguments: passed, selection: inner ?? {} };
    }
    return fields;
  };

  // query Name(…) { alias: findManyThing(…) { … } }
  name();
  if (next() !== "{") {
    name();
    argumentsHere();
  }
  take("{");
  const alias = name();
  const operation = took(":") ? name() : alias;
  const action = ACTIONS.find((one) => operation.startsWith(one)) ?? fail(`an operation in place of ${operation}`);
  const modelName = operation.slice(action.length) || undefined;
  const passed = argumentsHere();
  const selected = next() === "{" ? selection() : {};
  const query = { arguments: passed, selection: modelName === undefined ? {} : selected };
  return { alias, body: { modelName, action, query } };
}
