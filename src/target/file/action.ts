import { dirname, isAbsolute, resolve } from "node:path";
import * as z from "zod";
import { addressProblem } from "../../core/index.ts";
import { headerName, keyReference, optional } from "./value-schemas.ts";

/** Maximum time that an action may take, s. */
const MAX_TIMEOUT_S = 600;
const DEFAULT_TIMEOUT_S = 60;
/** The signals that an event may send; the names without SIG. */
const SIGNALS = ["TERM", "KILL", "INT", "HUP", "QUIT", "USR1", "USR2", "STOP", "CONT"] as const;

const signalSchema = z
  .strictObject({
    pid: optional(z.int().min(2), "Process id; not 0 or 1."),
    pidFile: optional(z.string().min(1), "File that contains the process id; read when the signal is sent."),
    name: z.enum(SIGNALS).meta({ description: "Signal, without SIG." }),
  })
  .refine(({ pid, pidFile }) => (pid === undefined) !== (pidFile === undefined), {
    message: "expected either pid or pidFile",
  });

const httpSchema = z.strictObject({
  method: optional(z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]), "Default POST, without a body GET."),
  url: z.string().superRefine((url, context) => {
    const problem = addressProblem(url);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  }),
  headers: optional(z.record(headerName, z.string()), "Headers without secrets."),
  token: optional(keyReference, "Bearer token, as a reference."),
  body: optional(z.json(), "Sent as JSON."),
});

export const actionShape = {
  run: optional(
    z.string().min(1),
    "Command line, run by the shell in the folder of the file. Redirect the output of background processes.",
  ),
  signal: optional(signalSchema, "Sends a signal to a process."),
  http: optional(httpSchema, "Sends an HTTP request; a status other than 2xx is a failure."),
  timeoutS: optional(
    z.number().positive().max(MAX_TIMEOUT_S),
    `Seconds until the action is aborted and counts as failed; default ${DEFAULT_TIMEOUT_S}.`,
  ),
};

/** The fields that say what an action does. */
export const ACTION_KINDS = ["run", "signal", "http"] as const;

const EITHER = "expected a command, or one of run, signal and http";

/** A command line, or what else is done to the gateway. */
export const actionSchema = z.union([
  z.string().min(1),
  z
    .strictObject(actionShape)
    .refine((written) => ACTION_KINDS.filter((kind) => written[kind] !== undefined).length === 1, { message: EITHER }),
]);

export type WrittenAction = z.infer<typeof actionSchema>;
type SignalName = (typeof SIGNALS)[number];

interface WithTimeout {
  readonly timeoutMs: number;
}

/** Something that is done to the gateway or to its surroundings, with absolute paths. */
export type Action =
  | (WithTimeout & { readonly kind: "command"; readonly command: string; readonly folder: string })
  | (WithTimeout & {
      readonly kind: "signal";
      readonly signal: SignalName;
      readonly pid: number | undefined;
      readonly pidFile: string | undefined;
    })
  | (WithTimeout & {
      readonly kind: "http";
      readonly method: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** A reference to the bearer token. */
      readonly token: string | undefined;
      readonly body: string | undefined;
    });

/** @param file that it is written in; paths are relative to its folder. @throws Error if it says nothing to do. */
export function resolveAction(written: WrittenAction, file: string): Action {
  const folder = dirname(resolve(file));
  const given: Exclude<WrittenAction, string> = typeof written === "string" ? { run: written } : written;
  const { run, signal, http, timeoutS = DEFAULT_TIMEOUT_S } = given;
  const timeoutMs = timeoutS * 1_000;
  if (run !== undefined) return { kind: "command", command: run, folder, timeoutMs };
  if (signal !== undefined) {
    const { name, pid, pidFile } = signal;
    return { kind: "signal", signal: name, pid, pidFile: pidFile && resolve(folder, pidFile), timeoutMs };
  }
  if (http === undefined) throw new Error(EITHER);
  const { method, url, headers = {}, token, body } = http;
  return {
    kind: "http",
    method: method ?? (body === undefined ? "GET" : "POST"),
    url,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    token: token && fromFolder(token, folder),
    body: body === undefined ? undefined : JSON.stringify(body),
    timeoutMs,
  };
}

/** A reference whose file is relative to a folder. */
function fromFolder(reference: string, folder: string): string {
  const path = /^file:(.+)$/.exec(reference)?.[1];
  return path === undefined || isAbsolute(path) ? reference : `file:${resolve(folder, path)}`;
}

/** An action in a few words, for plans and reports: `run ./restart.sh`. */
export function describeAction(action: Action): string {
  switch (action.kind) {
    case "command":
      return `run ${action.command}`;
    case "signal":
      return `SIG${action.signal} to ${action.pid === undefined ? `the process in ${action.pidFile}` : `process ${action.pid}`}`;
    case "http":
      return `${action.method} ${action.url}`;
  }
}
