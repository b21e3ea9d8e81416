import { execFileSync } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listening } from "./listening.ts";

/** Names that Gauntlet has or that could be mistaken for it. Nobody owns them on a registry while it is not published. */
const OUR_NAMES: readonly string[] = ["gauntlet", "gateway-gauntlet"];

export interface Registry extends AsyncDisposable {
  readonly url: string;
  /** Requests for one of our names, which got a 403. */
  readonly denied: readonly string[];
}

/** A registry with the content of the configured one, without our names. */
export async function startRegistry(): Promise<Registry> {
  const configured = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim().replace(/\/$/, "");
  const denied: string[] = [];
  const server = createServer((request, response) => {
    const { method = "GET", url = "/" } = request;
    const [name = ""] = decodeURIComponent(url).slice(1).split(/[/?]/);
    if (OUR_NAMES.includes(name)) {
      denied.push(`${method} ${url}`);
      response.writeHead(403).end();
    } else if (method !== "GET") {
      // Advisories are requested with POST; no installation needs them.
      response.writeHead(404).end();
    } else {
      void passOn(`${configured}${url}`, request, response);
    }
  });
  const open = await listening(server, () => server.closeAllConnections());
  return { ...open, url: `${open.origin}/`, denied };
}

async function passOn(url: string, { headers }: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    // Without the abbreviated document, npm reads a hundred times as much.
    const fetched = await fetch(url, { headers: { accept: headers.accept ?? "*/*" } });
    const body = Buffer.from(await fetched.arrayBuffer());
    response.writeHead(fetched.status, { "content-type": fetched.headers.get("content-type") ?? "application/json" });
    response.end(body);
  } catch {
    // npm retries truncated downloads, as it does with the registry itself.
    response.destroy();
  }
}
