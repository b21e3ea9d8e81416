import { addressProblem, ConfigError, UsageError } from "../../core/index.ts";
import type { Dialect } from "../../dialects/index.ts";
import { assertReachable } from "../../load/index.ts";
import type { UpstreamLog } from "../../overhead/index.ts";
import type { Permit, RunControl } from "../../run/control/index.ts";
import { permitLine, searchPermit } from "../../run/control/index.ts";
import { mainFile, startBuild } from "../../run/open/index.ts";
import { fillModels } from "../../run/preflight/index.ts";
import { isLoopback, Key, loadTarget, startOwnProcess, type Target, upstreamControl } from "../../target/index.ts";
import type { OverheadCommandOptions } from "./overhead-options.ts";

/** The upstream and the gateways in front of it, all responding. */
export interface Arms extends AsyncDisposable {
  readonly direct: Permit;
  readonly gateways: readonly Permit[];
  /** Process of the first gateway, if it was started here. */
  readonly pid: number | undefined;
}

/** Tells a started gateway the address of its upstream. */
const UPSTREAM_VARIABLE = "GAUNTLET_UPSTREAM";

/**
 * Reads or starts what is measured.
 *
 * @throws UsageError when the upstream of the gateways is not given.
 * @throws ConfigError for an invalid target file, or a host that must not be loaded.
 */
export async function openArms(
  options: OverheadCommandOptions,
  { interruption, onProgress }: RunControl,
): Promise<Arms> {
  const { signal } = interruption;
  const onPermit = (permit: Permit) => onProgress({ kind: "note", text: permitLine(permit) });
  if (options.target.length === 0)
    throw new UsageError("no gateway is named", { hint: "Pass --target FILE, with one or several files." });
  if (options.upstream !== undefined && options.direct !== undefined)
    throw new UsageError("--upstream and --direct both name the upstream", { hint: "Pass one of them." });
  if (options.upstream !== undefined) assertOwnUpstream(options.upstream);
  const started: AsyncDisposable[] = [];
  const end = async () => {
    for (const one of started.reverse()) await one[Symbol.asyncDispose]();
  };
  try {
    return { ...(await openAll(options, { started, signal, onPermit })), [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}

interface Opening {
  /** Everything started is added here, to be stopped at the end. */
  readonly started: AsyncDisposable[];
  readonly signal: AbortSignal;
  /** Called before the first request to a target. */
  readonly onPermit: (permit: Permit) => void;
}

async function openAll(
  options: OverheadCommandOptions,
  { started, signal, onPermit }: Opening,
): Promise<Pick<Arms, "direct" | "gateways" | "pid">> {
  const own = await ownUpstream(options, started, signal);
  const address = options.upstream ?? own?.address;
  const [first, ...others] = options.target as [string, ...string[]];
  const environment: Record<string, string> = address === undefined ? {} : { [UPSTREAM_VARIABLE]: address };
  const build = await startBuild({ target: first, start: options.start, option: "--start" }, signal, environment);
  started.push(build);
  const gateways: Permit[] = [];
  for (const target of [withLog(build.target, own), ...others.map((file) => loadTarget(file, process.env))])
    gateways.push(await permitted(target, onPermit));
  const direct =
    options.direct === undefined
      ? searchPermit(upstreamTarget(address as string, (gateways[0] as Permit).target), OVERHEAD)
      : await permitted(loadTarget(options.direct, process.env), onPermit);
  return { direct, gateways, pid: build.pid };
}

/** Name in the printed plan. */
const OVERHEAD = "overhead";

/** The permit for a target, with the models that its file does not name filled in. */
async function permitted(target: Target, onPermit: Opening["onPermit"]): Promise<Permit> {
  const permit = searchPermit(target, OVERHEAD);
  onPermit(permit);
  await assertReachable(target);
  return { ...permit, target: await fillModels(permit) };
}

/** An upstream that was started here. */
interface OwnUpstream {
  readonly address: string;
  readonly controlUrl: string;
  readonly token: Key;
}

/** Starts an upstream for a gateway that is started as well; `undefined` if an option gives one. */
async function ownUpstream(
  { direct, upstream: named, start }: OverheadCommandOptions,
  started: AsyncDisposable[],
  signal: AbortSignal,
): Promise<OwnUpstream | undefined> {
  if (direct !== undefined || named !== undefined) return undefined;
  if (start === undefined) {
    throw new UsageError("the upstream that the gateways call is not named", {
      hint: "Run `gauntlet upstream --port 9100`, let the gateways call the address that it prints, and pass --upstream <address>; or name another upstream by a target file with --direct FILE.",
    });
  }
  const command = [process.execPath, mainFile(), "upstream"] as const;
  const own = await startOwnProcess(command, { what: "the upstream", readyField: "controlUrl", signal });
  started.push(own);
  const { upstream } = own.ready["providers"] as { readonly upstream: string };
  const { controlUrl, controlToken } = own.ready;
  return { address: upstream, controlUrl: String(controlUrl), token: new Key("upstream.token", String(controlToken)) };
}

/** A gateway that was started with our upstream calls it, whatever its target file says. */
function withLog(target: Target, own: OwnUpstream | undefined): Target {
  if (own === undefined) return target;
  const { controlUrl, token } = own;
  const declared = { models: {}, attempts: undefined, failover: [], passesCallerKey: false, ...target.upstream };
  return { ...target, upstream: { ...declared, controlUrl, token } };
}

/** The log of a gateway's upstream, if its control interface is known. */
export function upstreamLogOf(target: Target, dialect: Dialect): UpstreamLog | undefined {
  const { upstream } = target;
  if (upstream === undefined) return undefined;
  return { control: upstreamControl(upstream, target), model: upstream.models[dialect] };
}

/** Rejects an address that is invalid, contains a secret, or is on another host, before anything starts. */
function assertOwnUpstream(address: string): void {
  const problem = addressProblem(address);
  if (problem !== undefined) throw new UsageError(`--upstream ${problem}`);
  if (isLoopback(address)) return;
  const message = `load would go to ${new URL(address).host}, which is not this machine.`;
  const hint = "Describe it in a target file with its key and `authorized: true`, and pass --direct FILE.";
  throw new ConfigError([{ file: "--upstream", path: "", message, hint }]);
}

/** The upstream as a target: the same requests as the gateway, with a dummy key. */
function upstreamTarget(address: string, gateway: Target): Target {
  return {
    ...gateway,
    name: "upstream",
    source: "--upstream",
    baseUrl: address.replace(/\/$/, ""),
    addresses: undefined,
    extraHeaders: { all: [], models: [], chat: [], messages: [] },
    extraSecrets: [],
    keys: { valid: new Key("upstream", "gauntlet-upstream") },
    limited: [],
    tiers: {},
    tokenLimits: undefined,
    http: 1,
    configuration: { upstream: address },
  };
}
