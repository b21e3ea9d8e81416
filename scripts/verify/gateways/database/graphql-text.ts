/** A query in the JSON protocol of Prisma's engine, and the name under which its result is requested. */
export interface EngineQuery {
  readonly alias: string;
  readonly body: {
    readonly modelName: string | undefined;
    readonly action: string;
    readonly query: { readonly arguments: Fields; readonly selection: Fields };
  };
}

export type Fields = Record<string, unknown>;

/** Longer names first if one is a prefix of another. */
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
const STRING = /"(?:\\[\s\S]|[^"\\])*"/y;
const WORDS: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };

/** Walks through a text, token by token. */
class Cursor {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    this.#at += found?.length ?? 0;
    return found;
  }

  next(): string | undefined {
    this.match(SPACE);
    return this.#text[this.#at];
  }

  fail(what: string): never {
    throw new SyntaxError(`${what} expected at ${this.#at}: ${this.#text.slice(this.#at, this.#at + 60)}`);
  }

  took(letter: string): boolean {
    const here = this.next() === letter;
    if (here) this.#at += 1;
    return here;
  }

  take(letter: string): void {
    if (!this.took(letter)) this.fail(letter);
  }

  name(): string {
    this.match(SPACE);
    return this.match(NAME) ?? this.fail("a name");
  }

  string(): string {
    const written = this.match(STRING) ?? this.fail('"');
    // Its strings contain raw line breaks, which JSON does not allow.
    return JSON.parse(
      written.replace(/\p{Cc}/gu, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`),
    );
  }
}

function readValue(cursor: Cursor): unknown {
  const letter = cursor.next();
  if (letter === '"') return cursor.string();
  if (letter === "{") return readMembers(cursor, "{", "}");
  if (cursor.took("[")) {
    const items: unknown[] = [];
    while (!cursor.took("]")) items.push(readValue(cursor));
    return items;
  }
  const digits = cursor.match(NUMBER);
  if (digits !== undefined) return Number(digits);
  const word = cursor.name();
  return word in WORDS ? WORDS[word] : word;
}

function readMembers(cursor: Cursor, open: string, close: string): Fields {
  const fields: Fields = {};
  cursor.take(open);
  while (!cursor.took(close)) {
    const key = cursor.next() === '"' ? cursor.string() : cursor.name();
    cursor.take(":");
    fields[key] = readValue(cursor);
  }
  return fields;
}

const readArguments = (cursor: Cursor): Fields => (cursor.next() === "(" ? readMembers(cursor, "(", ")") : {});

function readSelection(cursor: Cursor): Fields | undefined {
  if (!cursor.took("{")) return undefined;
  const fields: Fields = {};
  while (!cursor.took("}")) {
    const field = cursor.name();
    const passed = readArguments(cursor);
    const inner = readSelection(cursor);
    const plain = inner === undefined && Object.keys(passed).length === 0;
    fields[field] = plain ? true : { arguments: passed, selection: inner ?? {} };
  }
  return fields;
}

/**
 * Reads the GraphQL text that Prisma's Python client sends; the engine's WebAssembly build only accepts the JSON form: `query
 * Name(…) { alias: findManyThing(…) { … } }`.
 *
 * @throws SyntaxError for text that is not such a query.
 */
export function readGraphql(text: string): EngineQuery {
  const cursor = new Cursor(text);
  cursor.name();
  if (cursor.next() !== "{") {
    cursor.name();
    readArguments(cursor);
  }
  cursor.take("{");
  const alias = cursor.name();
  const operation = cursor.took(":") ? cursor.name() : alias;
  const action =
    ACTIONS.find((one) => operation.startsWith(one)) ?? cursor.fail(`an operation in place of ${operation}`);
  const modelName = operation.slice(action.length) || undefined;
  const passed = readArguments(cursor);
  const selected = readSelection(cursor) ?? {};
  const query = { arguments: passed, selection: modelName === undefined ? {} : selected };
  return { alias, body: { modelName, action, query } };
}
