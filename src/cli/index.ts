import yargs, { type CommandModule } from "yargs";
import { useCase, VERSION } from "../app/index.ts";
import { EXIT, GauntletError } from "../core/index.ts";
import { checkOptions } from "./check-options.ts";
import { baselineCommand } from "./commands/baseline.ts";
import { calibrateCommand } from "./commands/calibrate.ts";
import { capacityCommand } from "./commands/capacity.ts";
import { checksCommand } from "./commands/checks.ts";
import { clientCommand } from "./commands/client.ts";
import { compareCommand } from "./commands/compare.ts";
import { complete, completionCommand } from "./commands/completion.ts";
import { conformCommand } from "./commands/conform.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { explainCommand } from "./commands/explain.ts";
import { gatewayCommand } from "./commands/gateway.ts";
import { initCommand } from "./commands/init.ts";
import { k6Command } from "./commands/k6.ts";
import { limitsCommand } from "./commands/limits.ts";
import { loadCommand } from "./commands/load.ts";
import { rejudgeCommand } from "./commands/rejudge.ts";
import { reportCommand } from "./commands/report.ts";
import { runCommand } from "./commands/run.ts";
import { sizeCommand } from "./commands/size.ts";
import { waiversCommand } from "./commands/waivers.ts";
import { describeCrash } from "./crash.ts";
import { keepOutOfDumps } from "./dumps.ts";
import { wantsJson, writeError } from "./json-output.ts";

export { crashWith, outputFailed } from "./crash.ts";

/**
 * Parses the command line, runs the command, and tells the exit code. Errors become one message on stderr; nothing else
 * sets an exit code, so that reports are always flushed.
 */
export async function main(args: readonly string[]): Promise<number> {
  const { own, behindDashes } = splitAtDashes(args);
  if (own.includes("--version") && own.includes("--json")) {
    const { versionDocument } = await useCase.version();
    process.stdout.write(`${JSON.stringify(versionDocument())}\n`);
    return EXIT.pass;
  }
  keepOutOfDumps();
  const outcome = { exitCode: EXIT.pass as number };
  const parser = yargs([...own])
    .scriptName("gauntlet")
    .usage("$0 <command>\n\nLoad testing and conformance for model gateways.")
    .version(VERSION)
    .strict()
    .demandCommand(1, "Name a command.")
    .recommendCommands()
    .wrap(Math.min(110, process.stdout.columns ?? 100))
    .showHelpOnFail(false)
    .exitProcess(false)
    .middleware((argv) => {
      // Commands report their exit code here: yargs has no return value for handlers.
      argv["outcome"] = outcome;
      if (behindDashes !== undefined) argv["behindDashes"] = behindDashes;
    })
    .check((argv) => {
      checkOptions(argv, own);
      return true;
    })
    .completion(
      "complete-for-shell",
      false,
      (current: string, argv: object, usual: Usual, done: (found: string[]) => void) => {
        const defaults = () => new Promise<string[]>((resolve) => usual((_, found) => resolve(found ?? [])));
        void complete(current, argv, defaults).then(done);
      },
    )
    .fail((message, error) => {
      throw error ?? new UsageFailure(message);
    });
  const commands = [
    runCommand,
    conformCommand,
    checksCommand,
    explainCommand,
    gatewayCommand,
    rejudgeCommand,
    loadCommand,
    calibrateCommand,
    limitsCommand,
    capacityCommand,
    sizeCommand,
    reportCommand,
    compareCommand,
    clientCommand,
    baselineCommand,
    waiversCommand,
    doctorCommand,
    initCommand,
    k6Command,
    completionCommand,
  ] as CommandModule[];
  for (const command of commands) parser.command(command);
  try {
    await parser.parseAsync();
  } catch (error) {
    return report(error, own);
  }
  return outcome.exitCode;
}

/** What stands behind `--` of `gauntlet client` is another program's command line, and none of ours to parse. */
function splitAtDashes(args: readonly string[]): {
  readonly own: readonly string[];
  readonly behindDashes?: readonly string[];
} {
  const at = args[0] === "client" ? args.indexOf("--") : -1;
  return at < 0 ? { own: args } : { own: args.slice(0, at), behindDashes: args.slice(at + 1) };
}

/** What yargs would complete by itself. */
type Usual = (take: (error: Error | null, found: string[] | undefined) => void) => void;

/** A complaint of the argument parser. */
class UsageFailure extends GauntletError {
  readonly code = "USAGE";
  readonly exit = EXIT.usage;
}

/** One message on stderr, and with `--json` the same as a document on stdout. */
function report(error: unknown, args: readonly string[]): number {
  const isOwn = error instanceof GauntletError;
  const text = isOwn ? error.message : describeCrash(error, process.env);
  process.stderr.write(`gauntlet: ${text}\n`);
  if (isOwn && error.hint !== undefined) process.stderr.write(`  ${error.hint}\n`);
  if (isOwn && error.code === "USAGE") process.stderr.write("  `gauntlet --help` lists commands and options.\n");
  if (wantsJson(args)) writeError(error, text);
  return isOwn ? error.exit : EXIT.internal;
}
