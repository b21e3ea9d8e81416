import type { CommandModule } from "yargs";
import { didYouMean, UsageError } from "../core/index.ts";
import { type Command, examplesText } from "./define-command.ts";

interface Group {
  readonly name: string;
  readonly describe: string;
  readonly commands: readonly Command[];
}

const commandsHint = (name: string, actions: readonly string[]): string =>
  `Options: ${actions.map((action) => `\`gauntlet ${name} ${action} --help\``).join(", ")}.`;

/** A command that only has subcommands: its help lists them with their examples, and any other word is an error. */
export function defineGroup({ name, describe, commands }: Group): CommandModule {
  const actions = commands.map(({ command }) => String(command).split(" ")[0] ?? "");
  return {
    command: `${name} <action>`,
    describe,
    builder: (yargs) =>
      commands
        .reduce((group, command) => group.command(command), yargs)
        .epilogue(
          `${examplesText(commands.flatMap(({ examples }) => examples.slice(0, 1)))}\n\n${commandsHint(name, actions)}`,
        ),
    handler: ({ action }) => {
      const known = actions.map((own) => `\`gauntlet ${name} ${own}\``).join(", ");
      throw new UsageError(`unknown command "${name} ${String(action)}"`, {
        hint: `${didYouMean(String(action), actions)}Use ${known}.`,
      });
    },
  };
}
