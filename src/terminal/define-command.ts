import type { ArgumentsCamelCase, Argv, CommandModule } from "yargs";
import { ConfigError, EXIT, type ExitCode, GauntletError, terminalText, UnreachableError } from "../core/index.ts";
import type { Outcome, RunControl } from "../run/control/index.ts";
import { colorsFor } from "./colors.ts";
import { watchInterruption } from "./interruption.ts";
import { errorOf, writeDocument } from "./json-output.ts";
import { showProgress } from "./progress/progress.ts";
import { fitted } from "./wrap-lines.ts";

interface Definition<A> {
  readonly command: string;
  readonly describe: string;
  /** Command lines, each with a description. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  readonly builder: (yargs: Argv) => Argv<A>;
  /** Loads its dependencies when it runs, so that `--help` does not wait for them. */
  readonly run: (argv: ArgumentsCamelCase<A>) => Promise<Outcome>;
}

/** A command with its examples, as `defineGroup` needs it. */
export type Command = CommandModule & Pick<Definition<unknown>, "examples">;

/** A command whose arguments are typed by its options; prints the outcome and sets the exit code. */
export function defineCommand<A>({
  run,
  ...definition
}: Definition<A>): CommandModule<object, A> & Pick<Definition<A>, "examples"> {
  const { examples } = definition;
  return {
    ...definition,
    builder: (yargs) => definition.builder(yargs as Argv).epilogue(examplesText(examples)),
    handler: async (argv) => {
      const outcome = await run(argv);
      print(outcome, isJson(argv));
      leaveExitCode(argv, outcome.exitCode);
      if (outcome.ioError !== undefined) throw outcome.ioError;
    },
  };
}

/** Not with the examples of yargs: it wraps long command lines, which then cannot be copied. */
export function examplesText(examples: readonly (readonly [line: string, what: string])[]): string {
  return ["Examples:", ...examples.map(([line, what]) => `  ${line}\n      ${what}`)].join("\n");
}

/** Runs a use case that takes a while: with progress on stderr, and two signals to end it. */
export async function withControl(
  run: (control: RunControl) => Promise<Outcome>,
  { quiet }: { readonly quiet: boolean },
): Promise<Outcome> {
  using progress = showProgress(process.stderr, { quiet });
  await using interruption = watchInterruption((folder) =>
    progress.onProgress({ kind: "notice", text: folder === undefined ? "stopping" : "stopping: writing the report" }),
  );
  try {
    return await run({ interruption, onProgress: progress.onProgress });
  } catch (error) {
    const by = interruption.by();
    throw by !== undefined && isOfInterruption(error) ? new InterruptedError(by, error) : error;
  }
}

/** Interrupted before there was anything to record. */
class InterruptedError extends GauntletError {
  readonly code = "INTERRUPTED";
  readonly exit: ExitCode;

  constructor(by: "SIGINT" | "SIGTERM", cause: unknown) {
    super(`interrupted by ${by} before anything was judged`, { cause });
    this.exit = by === "SIGINT" ? EXIT.interrupted : EXIT.terminated;
  }
}

/** Requests aborted by a signal look like an unreachable gateway, or like something that is not a gateway. */
function isOfInterruption(error: unknown): boolean {
  if (error instanceof UnreachableError || error instanceof ConfigError) return true;
  return isAbort(error) || (error instanceof Error && isAbort(error.cause));
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === "AbortError";

function isJson(argv: object): boolean {
  return "json" in argv && argv.json === true;
}

function print({ document, text, ioError }: Outcome, json: boolean): void {
  const { stdout } = process;
  if (!json) {
    const written = terminalText(text(colorsFor(stdout)));
    stdout.write(fitted(written, stdout));
  }
  if (json && document !== undefined)
    writeDocument(ioError === undefined ? document : { ...document, ...errorOf(ioError) });
}

/** Holds the exit code of a command: yargs has no return value for handlers. */
export interface ExitCodeHolder {
  exitCode: number;
}

function leaveExitCode(argv: object, exitCode: number): void {
  (argv as { readonly outcome: ExitCodeHolder }).outcome.exitCode = exitCode;
}
