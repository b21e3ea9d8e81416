import yargs, { type CommandModule } from "yargs";
import { EXIT, GauntletError } from "../core/index.ts";
import { baselineCommand } from "./baseline-command.ts";
import { capacityCommand } from "./capacity-command.ts";
import { checkOptions } from "./check-options.ts";
import { clientCommand } from "./client-command.ts";
import {
  calibrateCommand,
  checksCommand,
  compareCommand,
  conformCommand,
  explainCommand,
  loadCommand,
  rejudgeCommand,
  reportCommand,
  runCommand,
} from "./commands.ts";
import { complete, completionCommand } from "./completion-command.ts";
import { describeCrash } from "./crash.ts";
import { doctorCommand } from "./doctor-command.ts";
import { keepOutOfDumps } from "./dumps.ts";
import { gatewayCommand } from "./gateway-command.ts";
import { initCommand } from "./init-command.ts";
import { k6Command } from "./k6-command.ts";
import { limitsCommand } from "./limits-command.ts";
import { sizeCommand } from "./size-command.ts";
import { VERSION } from "../app/version.ts";
import { waiversCommand } from "./waivers-command.ts";

export { crashWith, outputFailed } from "./crash.ts";

/**
 * Parses the command line, runs the command, and tells the exit code. Errors become one message on stderr; nothing else
 * sets an exit code, so that reports are always flushed.
 */
export async function main(args: readonly string[]): Promise<number> {
  const { own, behindDashes } = splitAtDashes(args);
  if (own.includes("--version") && own.includes("--json")) {
    const { versionDocument } = await import("../app/version-document.ts");
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
    return report(error);
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

function report(error: unknown): number {
  if (error instanceof GauntletError) {
    process.stderr.write(`gauntlet: ${error.message}\n`);
    if (error.hint !== undefined) process.stderr.write(`  ${error.hint}\n`);
    if (error.code === "USAGE") process.stderr.write("  `gauntlet --help` lists commands and options.\n");
    return error.exit;
  }
  process.stderr.write(`gauntlet: ${describeCrash(error, process.env)}\n`);
  return EXIT.internal;
}
