// Installs the SDKs in a temporary folder, has each send one request of every kind to a local server, and writes the headers that
// arrived to suites/shared/requests/sdk-headers.ts. To update it: raise the versions below, then
//
//   npm run record:sdk-headers
import { spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SdkRequests } from "../suites/shared/requests/sdk-headers.ts";

const VERSIONS = {
  "openai-node": { dialect: "chat", package: "openai", version: "6.49.0" },
  "openai-python": { dialect: "chat", package: "openai", version: "3.57.0" },
  "anthropic-node": { dialect: "messages", package: "@anthropic-ai/sdk", version: "1.14.0" },
  "anthropic-python": { dialect: "messages", package: "anthropic", version: "2.14.0" },
} as const;

const FILE = fileURLToPath(new URL("../suites/shared/requests/sdk-headers.ts", import.meta.url));
const PROGRAM = "openai_and_anthropic";
const KEY = "sk-recorded-0123456789";

/** Headers of the connection and the body, and those that a check sets itself: the credential and the version. */
const NOT_RECORDED =
  /^(?:host|connection|content-length|content-type|transfer-encoding|authorization|[a-z]+-version)$/i;

type Kind = keyof SdkRequests["headers"];
type Recorded = Map<string, Partial<Record<Kind, [string, string][]>>>;

const folder = mkdtempSync(join(tmpdir(), "gauntlet-record-sdk-headers-"));
const recorded: Recorded = new Map();

/** Rejects unless the program exits with 0. Asynchronous, because the server in this process must keep responding. */
async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = folder): Promise<void> {
  const child = spawn(program, args, { cwd, stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, ...env } });
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}`);
}

function packagesOf(language: "node" | "python"): string[] {
  return Object.entries(VERSIONS)
    .filter(([name]) => name.endsWith(language))
    .map(([, { package: name, version }]) => `${name}${language === "node" ? "@" : "=="}${version}`);
}

async function install(): Promise<void> {
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  await run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", "--save-exact", ...packagesOf("node")]);
  await run("python3", ["-m", "venv", "py"]);
  const pip = ["-m", "pip", "install", "-q", "--disable-pip-version-check", ...packagesOf("python")];
  await run(join(folder, "py/bin/python"), pip);
  for (const ending of ["mjs", "py"])
    copyFileSync(new URL(`sdk-requests/${PROGRAM}.${ending}`, import.meta.url), join(folder, `${PROGRAM}.${ending}`));
}

function note({ method, url = "", rawHeaders }: IncomingMessage, body: string): void {
  const name = url.split("/")[1] ?? "";
  const kind: Kind = method === "GET" ? "models" : JSON.parse(body).stream === true ? "streaming" : "nonStreaming";
  const pairs = rawHeaders.flatMap((header, at): [string, string][] =>
    at % 2 === 0 ? [[header, rawHeaders[at + 1] ?? ""]] : [],
  );
  recorded.set(name, { ...recorded.get(name), [kind]: pairs.filter(([header]) => !NOT_RECORDED.test(header)) });
}

async function record(): Promise<void> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    note(request, Buffer.concat(chunks).toString());
    response.writeHead(400, { "content-type": "application/json" });
    response.end('{"error":{"type":"invalid_request_error","message":"recorded"}}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const env = { ORIGIN: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, KEY };
  await run(process.execPath, [`${PROGRAM}.mjs`], env);
  await run(join(folder, "py/bin/python"), [`${PROGRAM}.py`], env);
  server.close();
}

function write(): void {
  const requests = Object.entries(VERSIONS).map(([name, { dialect, package: sdk, version }]): SdkRequests => {
    const { nonStreaming, streaming, models } = recorded.get(name) ?? {};
    if (nonStreaming === undefined || streaming === undefined || models === undefined)
      throw new Error(`${name} did not send every kind of request`);
    return { name, sdk: `${sdk} ${version}`, dialect, headers: { nonStreaming, streaming, models } };
  });
  const text = JSON.stringify(requests, null, 2);
  if (text.includes(KEY)) throw new Error("a recorded header holds the key");
  writeFileSync(FILE, `${HEAD}export const SDK_REQUESTS: readonly SdkRequests[] = ${text};\n`);
}

const HEAD = `// Written by \`npm run record:sdk-headers\`: do not edit.
import type { Dialect, HeaderList } from "../../src/dialects/index.ts";

/** What an SDK sends with its default options, without its credential, the version header and what the body brings. */
export interface SdkRequests {
  readonly name: string;
  /** Package and version. */
  readonly sdk: string;
  readonly dialect: Dialect;
  /** As recorded, those of the recording machine included. */
  readonly headers: Readonly<Record<"nonStreaming" | "streaming" | "models", HeaderList>>;
}

`;

await install();
await record();
write();
await run("npx", ["biome", "format", "--write", FILE], {}, fileURLToPath(new URL("..", import.meta.url)));
rmSync(folder, { recursive: true });
