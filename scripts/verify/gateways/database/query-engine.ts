// Replaces Prisma's query engine, a program that no package registry has: the same HTTP interface, served by the WebAssembly
// build of that engine in npm's @prisma/client. LiteLLM's Python client starts it.
//
//   ENGINE_MODULES=FOLDER query-engine.ts -p PORT       FOLDER has the `ENGINE_PACKAGES` of ../litellm.ts
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { isObject, member } from "../../../../src/core/index.ts";
import { type Fields, readGraphql } from "./graphql-text.ts";

/** The version that the Python client requests. */
const VERSION = "query-engine 393aa359c9ad4a4bb28630fb5613f9c281cde053";

/** Maximum wait for a transaction to begin, and maximum duration of one, milliseconds; the engine's own defaults. */
const TRANSACTION = { max_wait: 2_000, timeout: 5_000 };

const NO_TRACE = "{}";

interface Engine {
  connect(trace: string): Promise<void>;
  query(body: string, trace: string, transaction: string | undefined): Promise<string>;
  startTransaction(options: string, trace: string): Promise<string>;
  commitTransaction(id: string, trace: string): Promise<string>;
  rollbackTransaction(id: string, trace: string): Promise<string>;
}

if (process.argv.includes("--version")) console.log(VERSION);
else await serve(Number(process.argv[process.argv.indexOf("-p") + 1]));

async function startEngine(datamodel: string): Promise<Engine> {
  const modules = process.env["ENGINE_MODULES"] ?? ".";
  const load = createRequire(join(modules, "from.cjs"));
  const runtime = join(modules, "node_modules/@prisma/client/runtime/query_engine_bg.postgresql");
  const glue = load(`${runtime}.js`);
  const code = await WebAssembly.instantiate(readFileSync(`${runtime}.wasm`), { "./query_engine_bg.js": glue });
  glue.__wbg_set_wasm(code.instance.exports);
  (code.instance.exports as { __wbindgen_start?: () => void }).__wbindgen_start?.();
  const { Pool } = load("pg");
  const { PrismaPg } = load("@prisma/adapter-pg");
  const { bindAdapter } = load("@prisma/driver-adapter-utils");
  const [connectionString] = (process.env["DATABASE_URL"] ?? "").split("?");
  const settings = {
    datamodel,
    logLevel: "error",
    logQueries: false,
    datasourceOverrides: {},
    overrideDatasources: {},
    env: { ...process.env },
    ignoreEnvVarErrors: true,
    engineProtocol: "json",
  };
  const adapter = bindAdapter(new PrismaPg(new Pool({ connectionString, max: 8 })));
  const engine: Engine = new glue.QueryEngine(settings, () => {}, adapter);
  await engine.connect(NO_TRACE);
  return engine;
}

/** The fields of each model that hold JSON: their values arrive as text, and would be stored as a JSON string. */
function jsonFields(datamodel: string): ReadonlyMap<string, ReadonlySet<string>> {
  const models = [...datamodel.matchAll(/^model (\w+) \{([\s\S]*?)^\}/gm)];
  return new Map(
    models.map(([, model = "", fields = ""]) => [
      model,
      new Set([...fields.matchAll(/^\s*(\w+)\s+Json\??(?=\s|$)/gm)].map(([, field = ""]) => field)),
    ]),
  );
}

function tagged(value: unknown): unknown {
  if (typeof value === "string") return { $type: "Json", value };
  const set = member(value, "set");
  return typeof set === "string" ? { set: { $type: "Json", value: set } } : value;
}

function tagJson(input: Fields, fields: ReadonlySet<string> | undefined): void {
  for (const written of [input["data"], input["create"], input["update"]].flat()) {
    if (!isObject(written)) continue;
    for (const field of Object.keys(written)) {
      if (fields?.has(field)) (written as Fields)[field] = tagged(written[field]);
    }
  }
}

/** Values as the Python client expects them: without type names. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  if ("$type" in value && "value" in value) {
    return value["$type"] === "BigInt" ? Number(value["value"]) : value["value"];
  }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
}

/** A result under the name that its query requested. */
function named(result: unknown, alias: string): unknown {
  const errors = member(result, "errors");
  if (Array.isArray(errors) && errors.length > 0) return result;
  const [first = null] = Object.values((member(result, "data") as Fields | undefined) ?? {});
  return { data: { [alias]: plain(first) } };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

async function serve(port: number): Promise<void> {
  const datamodel = readFileSync(process.env["PRISMA_DML_PATH"] ?? "", "utf8");
  const json = jsonFields(datamodel);
  const engine = await startEngine(datamodel);

  const translate = (query: unknown) => {
    const requested = readGraphql(String(member(query, "query")));
    tagJson(requested.body.query.arguments, json.get(requested.body.modelName ?? ""));
    return requested;
  };

  async function queried(body: unknown, transaction: string | undefined): Promise<unknown> {
    const batch = member(body, "batch");
    if (!Array.isArray(batch)) {
      const requested = translate(body);
      return named(
        JSON.parse(await engine.query(JSON.stringify(requested.body), NO_TRACE, transaction)),
        requested.alias,
      );
    }
    const requested = batch.map(translate);
    const together = member(body, "transaction") ? {} : undefined;
    const text = JSON.stringify({ batch: requested.map((one) => one.body), transaction: together });
    const result: unknown = JSON.parse(await engine.query(text, NO_TRACE, transaction));
    const results = member(result, "batchResult");
    if (!Array.isArray(results)) return result;
    return { batchResult: results.map((one, index) => named(one, requested[index]?.alias ?? "")) };
  }

  async function respond(request: IncomingMessage): Promise<unknown> {
    const path = request.url ?? "/";
    if (path === "/status") return { status: "ok" };
    if (path.startsWith("/metrics")) return { counters: [], gauges: [], histograms: [] };
    const body = await bodyOf(request);
    const [, id, end] = /^\/transaction\/([^/]+)(?:\/(\w+))?/.exec(path) ?? [];
    if (id === "start") {
      const options = { ...TRANSACTION, ...(body as Fields) };
      return JSON.parse(await engine.startTransaction(JSON.stringify(options), NO_TRACE));
    }
    if (id !== undefined) {
      const ended =
        end === "commit" ? engine.commitTransaction(id, NO_TRACE) : engine.rollbackTransaction(id, NO_TRACE);
      return JSON.parse((await ended) || "{}");
    }
    return queried(body, request.headers["x-transaction-id"]?.toString());
  }

  createServer(async (request, response) => {
    const result = await respond(request).catch((error: unknown) => {
      // The engine's format of errors: the client reads them from the body, whatever the status.
      const message = String(error);
      return {
        errors: [{ error: message, user_facing_error: { is_panic: false, message, error_code: "P2010", meta: {} } }],
      };
    });
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(result));
  }).listen(port, "127.0.0.1");
}
