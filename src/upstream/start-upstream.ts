import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { controlServer } from "./control-server.ts";
import type { Scenario } from "./scenario.ts";
import { UpstreamServer } from "./upstream-server.ts";

export interface UpstreamOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly controlPort: number;
  /** Default: a random one. */
  readonly controlToken?: string | undefined;
  readonly scenario: Scenario;
}

/** The ready line of a started upstream, one line of JSON. */
export interface UpstreamReady {
  readonly event: "ready";
  readonly pid: number;
  /** Base URL of each provider, by name. */
  readonly providers: Readonly<Record<string, string>>;
  readonly controlUrl: string;
  /** Bearer token of the control port. */
  readonly controlToken: string;
}

export interface RunningUpstream extends AsyncDisposable {
  readonly ready: UpstreamReady;
}

/** Starts providers that respond according to a scenario, and a control port on loopback. */
export async function startUpstream(options: UpstreamOptions): Promise<RunningUpstream> {
  const { host, port, controlPort, controlToken = randomBytes(24).toString("base64url"), scenario } = options;
  const upstream = new UpstreamServer(scenario);
  const control = controlServer(upstream, controlToken);
  try {
    upstream.server.listen({ host, port });
    await once(upstream.server, "listening");
    const controlUrl = await control.listen({ host: "127.0.0.1", port: controlPort });
    const { port: taken } = upstream.server.address() as AddressInfo;
    const base = `http://${host.includes(":") ? `[${host}]` : host}:${taken}`;
    const names = Object.keys(scenario.providers);
    const providers = Object.fromEntries(names.map((name) => [name, `${base}/${name}/v1`]));
    return {
      ready: { event: "ready", pid: process.pid, providers, controlUrl, controlToken },
      async [Symbol.asyncDispose]() {
        await control.close();
        await upstream.close();
      },
    };
  } catch (error) {
    await control.close();
    if (upstream.server.listening) await upstream.close();
    throw error;
  }
}
