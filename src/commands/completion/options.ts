import { EXIT } from "../../core/index.ts";
import type { Workload } from "../../load/index.ts";
import { conformOptions, defineCommand } from "../../terminal/index.ts";

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

/** Options of `conform` and `run` whose value is not a name that we know. The shell completes files. */
const TAKES_VALUE: ReadonlySet<string> = new Set(
  Object.entries(conformOptions).flatMap(([name, { type }]) => (type === "boolean" ? [] : [`--${name}`])),
);

/** Commands whose arguments or option values can be completed from known names. */
const WITH_NAMES = ["client", "conform", "explain", "load", "run", "size"];

const ENGINES: readonly Workload["engine"][] = ["native", "autocannon", "k6"];

/**
 * Suites after `conform`, workloads after `load` and `size`, checks and requirements after `--only` and `explain`, scenarios after
 * `client`, and mutations and variants of the reference gateway; yargs completes the rest itself.
 *
 * @param words after the name of the program; the last one is to be completed.
 */
export async function complete(words: readonly string[], usual: () => Promise<string[]>): Promise<string[]> {
  const [command = "", ...others] = words;
  const current = others.at(-1) ?? "";
  const before = others.at(-2) ?? "";
  if (current.startsWith("-") || others.length === 0) return await usual();
  // Otherwise, the shell completes files.
  if (before === "--target") return current !== "" && "embedded".startsWith(current) ? ["embedded"] : [];
  if (before === "--engine") return [...ENGINES];
  const isMutationOrVariant = before === "--mutation" || before === "--variant";
  if (!isMutationOrVariant && !WITH_NAMES.includes(command)) return await usual();
  const { namesOf, scenarioNames, mutationOrVariantNames, workloadNames } = await import("./names.ts");
  if (isMutationOrVariant) return mutationOrVariantNames(before === "--mutation" ? "mutations" : "variants");
  if (command === "load" || command === "size") return before.startsWith("--") ? await usual() : workloadNames(current);
  if (command === "client") return scenarioNames();
  const { checks, requirements, suites } = await namesOf(valuesOf("--suite", others));
  const named = others.slice(0, -1).filter((word) => suites.includes(word));
  if (before === "--only") {
    const ofSuites = named.length === 0 ? checks : checks.filter((id) => named.some((one) => id.startsWith(`${one}.`)));
    return [...ofSuites, ...requirements];
  }
  if (TAKES_VALUE.has(before)) return [];
  if (command === "explain") return [...checks, ...requirements];
  return command === "conform" ? suites.filter((one) => !named.includes(one)) : await usual();
}

/** The values of an option that may be repeated. */
function valuesOf(option: string, words: readonly string[]): string[] {
  return words.slice(0, -1).flatMap((word, index) => (words[index - 1] === option ? [word] : []));
}
