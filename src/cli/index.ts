import { existsSync } from "node:fs";
import yargs, { type CommandModule } from "yargs";
import {
  baselineCommand,
  calibrateCommand,
  capacityCommand,
  checksCommand,
  clientCommand,
  compareCommand,
  complete,
  completionCommand,
  conformCommand,
  doctorCommand,
  explainCommand,
  gatewayCommand,
  historyCommand,
  initCommand,
  k6Command,
  k8sCommand,
  limitsCommand,
  loadCommand,
  matrixCommand,
  mergeCommand,
  overheadCommand,
  rejudgeCommand,
  reportCommand,
  runCommand,
  showReportCommand,
  sizeCommand,
  upstreamCommand,
  verifyClaimCommand,
  waiversCommand,
} from "../commands/index.ts";
import {
  appendJobSummary,
  ConfigError,
  type ConfigProblem,
  EXIT,
  GauntletError,
  isGithubJob,
  nearestOf,
  plainText,
  UsageError,
  VERSION,
  workflowCommand,
} from "../core/index.ts";
import type { ExitCodeHolder } from "../terminal/index.ts";
import { fitted, wantsJson, writeError } from "../terminal/index.ts";
import { checkOptions } from "./check-options.ts";
import { describeCrash } from "./crash.ts";
import { keepOutOfDumps } from "./dumps.ts";
import { type Described, overview } from "./overview.ts";
import { isCommandMissing, PARSER_CODES, type UsageMessage, usageMessage } from "./usage-message.ts";

export { crashWith, outputFailed } from "./crash.ts";

const COMMANDS = [
  runCommand,
  conformCommand,
  checksCommand,
  explainCommand,
  gatewayCommand,
  rejudgeCommand,
  loadCommand,
  mergeCommand,
  calibrateCommand,
  limitsCommand,
  capacityCommand,
  sizeCommand,
  reportCommand,
  showReportCommand,
  verifyClaimCommand,
  matrixCommand,
  compareCommand,
  overheadCommand,
  clientCommand,
  upstreamCommand,
  baselineCommand,
  historyCommand,
  waiversCommand,
  doctorCommand,
  initCommand,
  k6Command,
  k8sCommand,
  completionCommand,
] as CommandModule[];

/** Commands that have subcommands. */
const WITH_ACTIONS = ["baseline", "k6", "k8s", "waivers"];

const nameOf = ({ command }: CommandModule): string => String(command).split(" ")[0] ?? "";

/** Whether only the general help is requested, not that of a command. */
function asksForOverview(own: readonly string[]): boolean {
  return own.length === 1 && ["--help", "help"].includes(own[0] ?? "");
}

const overviewFor = ({ columns }: { readonly columns?: number }): string =>
  overview(COMMANDS as readonly Described[], Math.min(MAX_COLUMNS, columns || 100));

/** `-h` and `help COMMAND` as `--help`. */
function withLongHelp(own: readonly string[]): readonly string[] {
  const [first, ...others] = own.map((argument) => (argument === "-h" ? "--help" : argument));
  if (first === undefined) return own;
  return first === "help" && others.length > 0 ? [...others, "--help"] : [first, ...others];
}

/** Whether the first word is not a known command. With `--help`, the parser would then print help instead of an error. */
function isUnknownCommand([first = "-"]: readonly string[]): boolean {
  return !first.startsWith("-") && !COMMANDS.some((command) => nameOf(command) === first);
}

/**
 * Parses the command line, runs the command, and returns the exit code. Errors become one message on stderr; nothing else sets
 * an exit code, so that reports are always flushed.
 */
export async function main(args: readonly string[]): Promise<number> {
  const { own: typed, behindDashes } = splitAtDashes(args);
  const own = withLongHelp(typed);
  if (own.includes("--version") && own.includes("--json")) {
    const { versionDocument } = await import("../run/journal/index.ts");
    process.stdout.write(`${JSON.stringify(versionDocument())}\n`);
    return EXIT.pass;
  }
  if (asksForOverview(own)) {
    process.stdout.write(overviewFor(process.stdout));
    return EXIT.pass;
  }
  // Not exit code 0: in a script, the name of the command may have been an empty variable.
  if (own.length === 0) {
    process.stderr.write(`${overviewFor(process.stderr)}\n`);
    return report(new UsageError("no command given", { hint: "Use one of the commands above." }), own);
  }
  keepOutOfDumps();
  const outcome: ExitCodeHolder = { exitCode: EXIT.pass };
  const parser = parserOf(isUnknownCommand(own) ? own.slice(0, 1) : own, outcome, behindDashes);
  try {
    await parser.parseAsync();
  } catch (error) {
    // The parser also complains about the unfinished line that it completes.
    if (own[0] === COMPLETION) return EXIT.pass;
    return report(error instanceof ParserComplaint ? await toUsageError(error, own) : error, own);
  }
  return outcome.exitCode;
}

/** With this option, the shell requests completion. */
const COMPLETION = "--get-yargs-completions";

/** Wider text is hard to read. */
const MAX_COLUMNS = 110;

function parserOf(own: readonly string[], outcome: ExitCodeHolder, behindDashes?: readonly string[]) {
  const parser = yargs([...own])
    .scriptName("gauntlet")
    // One language: its complaints are codes, and sentences are written in usage-message.ts.
    .detectLocale(false)
    .updateStrings(PARSER_CODES)
    .version(VERSION)
    .strict()
    .demandCommand(1)
    .wrap(Math.min(MAX_COLUMNS, process.stdout.columns || 100))
    .showHelpOnFail(false)
    .exitProcess(false)
    .middleware((argv) => {
      // Commands report their exit code here: yargs has no return value for handlers.
      argv["outcome"] = outcome;
      if (behindDashes !== undefined) argv["behindDashes"] = behindDashes;
    })
    .check((argv, declared) => {
      checkOptions(argv, own, declared);
      return true;
    })
    .completion(
      "complete-for-shell",
      false,
      (_current: string, _argv: object, usual: Usual, done: (found: string[]) => void) => {
        const defaults = () => new Promise<string[]>((resolve) => usual((_, found) => resolve(found ?? [])));
        // The first two words are the option that requests completion, and the name of the program.
        void complete(own.slice(2), defaults).then(done);
      },
    )
    .fail((message, error) => {
      // Errors of the parser itself (YError) are usage errors, too; commands throw all others.
      throw error === undefined || error.name === "YError" ? new ParserComplaint(error?.message ?? message) : error;
    });

  for (const command of COMMANDS) parser.command(command);
  return parser;
}

/** The argument parser's own message. */
class ParserComplaint extends Error {}

/** The same as our own message, with the name that was probably meant. */
async function toUsageError({ message }: ParserComplaint, own: readonly string[]): Promise<UsageError> {
  const words = own.filter((word) => !word.startsWith("-"));
  const help = await helpFor(words);
  const usage = /^gauntlet (\S.*)$/m.exec(help)?.[1];
  const commands = [...help.matchAll(/^ {2}gauntlet (?:\S+ )*?([a-z][\w-]*)(?= [<[]| {2}|$)/gm)].map(
    ([, name = ""]) => name,
  );
  const options = [...help.matchAll(/--([a-z][\w-]*)/g)].map(([, name = ""]) => name);
  const known = { commands: usage === undefined ? COMMANDS.map(nameOf) : commands, options, usage, typed: own };
  const complaint =
    words.length === 0 && isCommandMissing(message) ? withoutCommand(own) : usageMessage(message, known);
  return new UsageError(complaint.message, { hint: complaint.hint });
}

/** Options of the program itself. */
const OWN_OPTIONS = ["help", "version"];

/** Options alone: one of them may be misspelt. */
function withoutCommand([first = ""]: readonly string[]): UsageMessage {
  const hint = "`gauntlet --help` lists the commands.";
  if (first === "-v") return { message: "there is no option -v", hint: `Did you mean "--version"? ${hint}` };
  const meant = nearestOf(first.replace(/^-+/, ""), OWN_OPTIONS);
  return meant === undefined
    ? { message: "no command given", hint }
    : { message: `there is no option ${first}`, hint: `Did you mean "--${meant}"? ${hint}` };
}

/** The help of the typed command, or of its longest known prefix; empty if there is none. */
async function helpFor(words: readonly string[]): Promise<string> {
  const [name, action] = words;
  if (!COMMANDS.some((command) => nameOf(command) === name)) return "";
  const requested = action !== undefined && WITH_ACTIONS.includes(name ?? "") ? [name, action] : [name];
  const parser = parserOf([], { exitCode: EXIT.pass });
  return await new Promise((resolve) => {
    parser.parse([...(requested as string[]), "--help"], {}, (_error, _argv, output) => resolve(output));
  });
}

/** The part after `--` of `gauntlet client` is another program's command line and is not parsed. */
function splitAtDashes(args: readonly string[]): {
  readonly own: readonly string[];
  readonly behindDashes?: readonly string[];
} {
  const at = args[0] === "client" ? args.indexOf("--") : -1;
  return at < 0 ? { own: args } : { own: args.slice(0, at), behindDashes: args.slice(at + 1) };
}

/** The default completion of yargs. */
type Usual = (take: (error: Error | null, found: string[] | undefined) => void) => void;

/** The first place that an error names. */
function placeOf(error: unknown): ConfigProblem | undefined {
  const [problem] = error instanceof ConfigError ? error.problems : [];
  return problem !== undefined && existsSync(problem.file) ? problem : undefined;
}

/** One message on stderr, and with `--json` the same as a document on stdout. */
function report(error: unknown, args: readonly string[]): number {
  const isOwn = error instanceof GauntletError;
  const exitCode = isOwn ? error.exit : EXIT.internal;
  const text = isOwn ? error.message : describeCrash(error, process.env);
  const message = plainText(text);
  const hint = isOwn && error.hint !== undefined ? `  ${plainText(error.hint)}\n` : "";
  process.stderr.write(fitted(`gauntlet: ${message}\n${hint}`, process.stderr));
  // A run reports its verdict to the job. An error before the verdict would otherwise appear only in the log.
  if (isGithubJob()) {
    const lines = `${message}\n${hint}`.trimEnd();
    process.stderr.write(`${workflowCommand("error", "Gauntlet", lines, placeOf(error))}\n`);
    appendJobSummary(`## Gauntlet: exit code ${exitCode}\n\n~~~~text\n${lines.replaceAll("~~~~", "~ ~ ~ ~")}\n~~~~\n`);
  }
  if (wantsJson(args)) writeError(error, text);
  return exitCode;
}
