import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { messageOf, sleep, UsageError } from "../core/index.ts";
import { AccountStore } from "./accounts/account-store.ts";
import { adminServer } from "./admin/admin-server.ts";
import { BehaviourSwitch } from "./behaviour-switch.ts";
import { DataFile } from "./data/data-file.ts";
import { openAccounts } from "./data/open-accounts.ts";
import { Scheduler } from "./delivery/scheduler.ts";
import { GatewayClock } from "./gateway-clock.ts";
import { History } from "./history.ts";
import { gatewayServer } from "./http/gateway-server.ts";
import { describeLedger } from "./ledger/description.ts";
import { type GatewayOptions, type GatewaySettings, resolveOptions } from "./options.ts";
import type { Behaviour } from "./pipeline/behaviour.ts";
import { MODELS, type Model, relayedAlias, relayedModel } from "./providers/model-table.ts";
import { type ReadyKeys, readyAccountsOf, tokenLimitsOf } from "./ready-accounts.ts";
import { EXTRA_MODELS, MODEL_ROLES, type ReadyLine, rolesOf } from "./ready-line.ts";
import { connectUpstream, type Upstream } from "./relay/upstream.ts";
import { playScript } from "./scripts/play-script.ts";
import type { Services } from "./services.ts";
import { openShared } from "./shared/open-shared.ts";
import { SharedLog } from "./shared/shared-log.ts";
import { machineOffsetUs, SharedState } from "./shared/shared-state.ts";
import { TrafficLog } from "./traffic-log.ts";

/** A listening gateway. Its creator ends it; `await using` destroys it. */
export interface Gateway extends AsyncDisposable {
  readonly ready: ReadyLine;
  /** Stops accepting, waits up to `drainMs` for requests in flight, then closes the remaining connections. */
  drain(): Promise<void>;
  /** Closes every connection immediately. */
  destroy(): Promise<void>;
}

/** How often idle connections are closed while draining, milliseconds. */
const SWEEP_MS = 50;
/** How long idle connections stay open when a drain begins, milliseconds: a request may be on its way. */
const LINGER_MS = 300;

/** Backlog of connections: a load test opens thousands at once. */
const BACKLOG = 4_096;

/** @throws UsageError when an option is invalid, the port is taken, or the data file cannot be opened. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const settings = resolveOptions(options);
  assertShareable(options);
  const file = options.data === undefined ? undefined : await DataFile.open(options.data);
  const log = options.shared === undefined ? undefined : await SharedLog.open(options.shared);
  try {
    return await startWith(settings, options, { file, log });
  } catch (error) {
    file?.close();
    log?.close();
    throw error;
  }
}

/** @throws UsageError for options whose state replicas do not share. */
function assertShareable({ shared, data, tokens }: GatewayOptions): void {
  if (shared === undefined) return;
  const other = data === undefined ? (tokens === undefined ? undefined : "tokens-per-minute") : "data";
  if (other === undefined) return;
  throw new UsageError(`${other}: cannot be used with shared, because replicas do not share it`, {
    hint: "Omit it, or start a single gateway without --shared.",
  });
}

/** The files that keep or share the state; without them, it is in memory only. */
interface StateFiles {
  readonly file: DataFile | undefined;
  readonly log: SharedLog | undefined;
}

async function startWith(settings: GatewaySettings, options: GatewayOptions, files: StateFiles): Promise<Gateway> {
  const onTop = options.script === undefined ? undefined : playScript(options.script);
  const behaviours = new BehaviourSwitch(settings.mutations, settings.variants, onTop);
  const upstream =
    settings.upstream.length === 0 ? undefined : await connectUpstream(settings.upstream, settings.realTimeoutMs);
  const { services, readyKeys } = makeServices(settings, options, {
    ...files,
    upstream,
    propagationDelayMs: (event, replica) => behaviours.current.propagationDelayMs(event, replica),
  });
  const accounts = readyAccountsOf(readyKeys);
  const tokenLimits = settings.tokens && tokenLimitsOf(settings.tokens, readyKeys);
  const adminToken = options.adminToken ?? randomBytes(24).toString("base64url");

  const app = gatewayServer({
    services,
    behaviour: () => behaviours.current,
    bodyLimitBytes: settings.bodyLimitBytes,
    idPrefix: `req_${randomBytes(6).toString("hex")}`,
  });
  const admin = adminServer({ services, behaviours, token: adminToken });
  const unasked = unaskedConnections(app.server);
  const port = await listen(app as unknown as FastifyInstance, settings.host, settings.port);
  const adminPort = await listen(admin, "127.0.0.1", settings.adminPort);

  const cut = async () => {
    services.scheduler.close();
    app.server.closeAllConnections();
    await Promise.all([app.close(), admin.close(), upstream?.[Symbol.asyncDispose]()]);
    if (services.saver === undefined && services.shared === undefined) return;
    // An aborted request ends, and is charged, when its socket has closed: at the end of this turn of the event loop.
    await nextTurn();
    await nextTurn();
    services.saver?.close();
    services.shared?.close();
  };
  return {
    ready: {
      event: "ready",
      pid: process.pid,
      baseUrl: `http://${hostInUrl(settings.host)}:${port}/v1`,
      adminUrl: `http://127.0.0.1:${adminPort}`,
      adminToken,
      ...(upstream === undefined || settings.simulatedToo
        ? { models: MODEL_ROLES, extraModels: EXTRA_MODELS }
        : { models: rolesOf(upstream.models), extraModels: {} }),
      limits: readyKeys.get("valid")?.account.limits ?? settings.limits,
      ...accounts,
      ...(tokenLimits && { tokenLimits }),
      ...(upstream && settings.simulatedToo && { ledger: describeLedger(upstream.models, behaviours.ledger) }),
      ...(behaviours.contract && { contract: behaviours.contract }),
    },
    async drain() {
      await drained(app as unknown as FastifyInstance, unasked, behaviours.current.drainMs(settings.drainMs));
      await cut();
    },
    destroy: cut,
    [Symbol.asyncDispose]: cut,
  };
}

/**
 * Stops listening and waits until no connection is left, or for the timeout. A request that is on its way on an idle connection is
 * served: closing the connection at once would reset it.
 */
async function drained(app: FastifyInstance, unasked: ReadonlySet<Socket>, longestMs: number): Promise<void> {
  const done = new AbortController();
  app.server.prependListener("request", (_request, response) => {
    response.shouldKeepAlive = false;
  });
  // Uses `close` of `net.Server`, because that of `http.Server` also closes idle connections.
  NetServer.prototype.close.call(app.server, () => done.abort());
  const idleFromMs = performance.now() + LINGER_MS;
  const closeIdle = () => {
    app.server.closeIdleConnections();
    for (const socket of unasked) socket.destroy();
  };
  const sweep = setInterval(() => {
    // Close idle connections only after arrived requests have been read: a late timer runs before them.
    if (performance.now() >= idleFromMs) setImmediate(closeIdle);
  }, SWEEP_MS);
  await sleep(longestMs, done.signal);
  clearInterval(sweep);
}

function makeServices(
  settings: GatewaySettings,
  { clock: base, onRequest }: GatewayOptions,
  {
    upstream,
    file,
    log,
    propagationDelayMs,
  }: StateFiles & {
    readonly upstream: Upstream | undefined;
    readonly propagationDelayMs: Behaviour["propagationDelayMs"];
  },
): { readonly services: Services; readonly readyKeys: ReadyKeys } {
  const clock = new GatewayClock(base);
  // The windows of all replicas begin at the same time.
  const originUs = log === undefined ? clock.monotonicUs() : -machineOffsetUs(clock);
  const suffix = log === undefined ? "" : `r${log.replica}`;
  const parts = {
    accounts: new AccountStore({ kind: settings.limiter, burst: settings.burst, originUs }, suffix),
    history: new History(),
  };
  const shared = log && new SharedState(log, { ...parts, clock }, propagationDelayMs);
  const { readyKeys, saver } =
    shared === undefined
      ? openAccounts(parts, clock, { settings, file })
      : { readyKeys: openShared(shared, { ...parts, clock }, settings), saver: undefined };
  const services: Services = {
    ...parts,
    saver,
    shared,
    clock,
    models: new Map(modelsOf(settings, upstream).map((model) => [model.id, model])),
    scheduler: new Scheduler(),
    traffic: new TrafficLog(onRequest),
    providers: settings,
    upstream,
    tokenCounts: settings.tokens?.counts ?? "total",
    seed: settings.seed,
    settlingLagMs: settings.settlingLagMs,
    startedS: Math.floor(clock.nowMs() / 1_000),
  };
  return { services, readyKeys };
}

function modelsOf({ simulatedToo }: GatewaySettings, upstream: Upstream | undefined): readonly Model[] {
  if (upstream === undefined) return MODELS;
  const relayed = upstream.models.map(relayedModel);
  return simulatedToo ? [...MODELS, ...relayed, ...upstream.models.map(relayedAlias)] : relayed;
}

/** Connections without a request so far: Node does not count them as idle, and they would delay a drain. */
function unaskedConnections(server: Server): ReadonlySet<Socket> {
  const unasked = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    unasked.add(socket);
    socket.once("close", () => unasked.delete(socket));
  });
  server.on("request", ({ socket }: IncomingMessage) => unasked.delete(socket));
  return unasked;
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<number> {
  try {
    await app.listen({ host, port, backlog: BACKLOG });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const isTaken = code === "EADDRINUSE";
    throw new UsageError(`cannot listen on ${host}:${port}: ${isTaken ? "the port is taken" : messageOf(cause)}`, {
      cause,
      hint:
        isTaken || code === "EACCES" ? "Choose another port with --port, or --port 0 for any free port." : undefined,
    });
  }
  return (app.server.address() as AddressInfo).port;
}

function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
