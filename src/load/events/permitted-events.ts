import { ConfigError, type ConfigProblem, readSecret, UsageError } from "../../core/index.ts";
import type { Secret } from "../../http/recorder/index.ts";
import { type Action, describeAction, isLoopback, type Target } from "../../target/index.ts";
import type { Workload } from "../workload/workload.ts";
import type { EventAction, WorkloadEvent } from "./event.ts";

/** What the target file must name for an expectation. */
const NEEDED_FILES = [
  ["cpuPerRequest", "pidFiles"],
  ["logBytesPerRequest", "logs"],
] as const;

type EventTarget = Pick<Target, "disturb" | "source" | "authorized" | "limits" | "processes">;

/**
 * The events of a workload, with the actions that the target file names. The caller has already checked that
 * the load is allowed. This checks only that the request of an event goes to this machine, or that the target has `authorized: true`.
 *
 * @throws ConfigError with every problem.
 */
export function permittedEvents(events: readonly WorkloadEvent[], target: EventTarget): WorkloadEvent<Action>[] {
  const problems: ConfigProblem[] = [];
  const problem = (path: string, message: string, hint: string) => {
    problems.push({ file: target.source, path, message, hint });
    return undefined;
  };
  const resolved = (action: EventAction, event: string): Action | undefined => {
    const known = action.kind === "named" ? named(action, target) : action;
    if (known === undefined && action.kind === "named")
      return problem(
        `disturb.${action.name}`,
        `missing; the event "${event}" of the workload needs it.`,
        `Define it in the target file: \`disturb: { ${action.name}: ./${action.name}.sh }\`.`,
      );
    if (known?.kind === "http" && !isLoopback(known.url) && !target.authorized)
      return problem(
        "authorized",
        `the event "${event}" would send a request to ${new URL(known.url).host}, which is not this machine.`,
        "Set `authorized: true` in the target file if you are allowed to do this.",
      );
    if (known?.kind === "http" && known.token !== undefined) {
      const token = readSecret(known.token);
      if (token.problem !== undefined)
        return problem("", `the token of the event "${event}": ${token.problem}`, token.hint ?? "Put it there.");
    }
    return known;
  };
  const all = events.flatMap((event) => {
    if (event.expect.capacityLeaked === 0 && !Number.isFinite(target.limits?.inFlight))
      problem(
        "limits",
        `must state inFlight: the event "${event.name}" of the workload expects that no capacity leaks (capacityLeaked: 0).`,
        "State the limits of the account of `valid`, such as `limits: { rpm: 6000, inFlight: 200 }`. Without a concurrency limit, omit capacityLeaked.",
      );
    for (const [field, needed] of NEEDED_FILES)
      if (event.expect[field] !== undefined && (target.processes?.[needed] ?? []).length === 0)
        problem(
          `processes.${needed}`,
          `missing; the event "${event.name}" of the workload limits ${field}.`,
          `Name the gateway's files on this machine: \`processes: { pidFiles: [gateway.pid], logs: [gateway.log] }\`.`,
        );
    const action = resolved(event.action, event.name);
    const after = event.after && resolved(event.after, event.name);
    return action === undefined ? [] : [{ ...event, action, after }];
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return all;
}

/** The action that a target file has under a name; a workload may give it more time. */
function named({ name, timeoutMs = 0 }: EventAction & { readonly kind: "named" }, { disturb }: EventTarget) {
  const known = disturb[name];
  return known && { ...known, timeoutMs: Math.max(known.timeoutMs, timeoutMs) };
}

/** The action, once the names of the target file are resolved. */
export function actionOf(action: EventAction): Action {
  if (action.kind === "named") throw new Error(`${action.name} has not been looked up in the target file`);
  return action;
}

/**
 * @param why which command or option cannot execute events: "--shard sends one share of the load".
 * @throws UsageError if the workload has events.
 */
export function assertNoEvents({ name, events }: Pick<Workload, "name" | "events">, why: string): void {
  if (events !== undefined)
    throw new UsageError(`${name} has events, and ${why}`, {
      hint: "Run it with `gauntlet load`, the native engine and a single process; --workers is allowed.",
    });
}

/** What an event does, in a few words. */
export function describeEventAction(action: EventAction): string {
  return action.kind === "named" ? `\`disturb.${action.name}\` of the target file` : describeAction(action);
}

/** Tokens of events, which must not be shown. */
export function eventSecrets(
  workloads: readonly { readonly events?: readonly WorkloadEvent[] | undefined }[],
): Secret[] {
  const events = workloads.flatMap(({ events = [] }) => events);
  return events.flatMap(({ name, action, after }) =>
    [action, after].flatMap((one) => {
      const value = one?.kind === "http" && one.token !== undefined ? readSecret(one.token).value : undefined;
      return value === undefined ? [] : [{ name: `token of ${name}`, value }];
    }),
  );
}
