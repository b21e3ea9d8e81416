import { useCase } from "../../app/index.ts";
import { EXIT } from "../../core/index.ts";
import { defineCommand } from "../define-command.ts";

/** One script per shell. Each calls the program itself, so that suites and options are never out of date. */
const SCRIPTS = {
  bash: `# gauntlet completion bash >> ~/.bashrc
_gauntlet() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(gauntlet --get-yargs-completions "\${COMP_WORDS[@]:0:COMP_CWORD}" "\${COMP_WORDS[COMP_CWORD]}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o filenames -F _gauntlet gauntlet
`,
  zsh: `#compdef gauntlet
# gauntlet completion zsh > "\${fpath[1]}/_gauntlet"
_gauntlet() {
  local -a found
  found=("\${(@f)$(SHELL=/bin/bash gauntlet --get-yargs-completions "\${words[@]:0:$((CURRENT - 1))}" "\${words[CURRENT]}" 2>/dev/null)}")
  if [ -n "\${found[1]}" ]; then compadd -- "\${found[@]}"; else _files; fi
}
if [ "$funcstack[1]" = "_gauntlet" ]; then _gauntlet "$@"; else compdef _gauntlet gauntlet; fi
`,
  fish: `# gauntlet completion fish > ~/.config/fish/completions/gauntlet.fish
complete -c gauntlet -a '(env SHELL=/bin/bash gauntlet --get-yargs-completions (commandline -opc) (commandline -ct) 2>/dev/null)'
`,
} as const;

/** `gauntlet completion SHELL`: prints a script that completes commands, options, suites and checks. */
export const completionCommand = defineCommand({
  command: "completion <shell>",
  describe: "Print a script for shell completion",
  examples: [
    ["gauntlet completion bash >> ~/.bashrc", "for bash"],
    ["gauntlet completion fish > ~/.config/fish/completions/gauntlet.fish", "for fish"],
  ],
  builder: (yargs) =>
    yargs.positional("shell", {
      choices: ["bash", "zsh", "fish"] as const,
      demandOption: true,
      describe: "your shell",
    }),
  run: async ({ shell }) => ({ exitCode: EXIT.pass, text: () => SCRIPTS[shell] }),
});

/** Suites after `conform`, checks after `explain`, scenarios after `client`; yargs completes the rest itself. */
export async function complete(
  current: string,
  argv: { readonly _?: readonly (string | number)[] },
  usual: () => Promise<string[]>,
): Promise<string[]> {
  const command = String(argv._?.[1] ?? "");
  if (current.startsWith("-") || !["client", "conform", "explain"].includes(command)) return await usual();
  const { checkIds, scenarioNames, suiteNames } = await useCase.names();
  if (command === "client") return scenarioNames();
  return command === "explain" ? checkIds() : suiteNames();
}
