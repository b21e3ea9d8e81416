import { type Running, startGauntlet } from "../../support/gauntlet.ts";

interface Ready {
  readonly baseUrl: string;
  readonly adminUrl: string;
  readonly adminToken: string;
  readonly keys: { readonly valid: string; readonly second: string };
}

/** What the gateway itself reports that it received. */
export interface GatewayLog {
  readonly total: number;
  readonly admitted: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly arrivals: readonly { readonly atMs: number; readonly status: number; readonly retryAfter?: string }[];
}

export interface LoggedGateway extends AsyncDisposable {
  readonly ready: Ready;
  /** Of the account of `valid`. */
  log(): Promise<GatewayLog>;
  /** Resolves when this many requests have arrived. */
  got(total: number): Promise<void>;
}

/** A reference gateway in a separate process, with its log. */
export async function loggedGateway(args: readonly string[]): Promise<LoggedGateway> {
  const running: Running = startGauntlet(["gateway", ...args]);
  const text = await running.printed(/\{"event":"ready".*\}\n/s);
  const ready = JSON.parse(text.slice(text.indexOf("{"), text.indexOf("\n", text.indexOf("{")))) as Ready;
  const log = async () => {
    const headers = { Authorization: `Bearer ${ready.adminToken}` };
    const response = await fetch(`${ready.adminUrl}/traffic?account=acct_1`, { headers });
    const { counts, arrivals } = (await response.json()) as {
      counts: Omit<GatewayLog, "arrivals">;
      arrivals: GatewayLog["arrivals"];
    };
    return { ...counts, arrivals };
  };
  return {
    ready,
    log,
    async got(total) {
      while ((await log()).total < total) await new Promise((resolve) => setTimeout(resolve, 50));
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}
