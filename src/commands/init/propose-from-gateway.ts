import { Traffic } from "../../checks/index.ts";
import { messageOf } from "../../core/index.ts";
import { proposalPlan, propose } from "../../propose/index.ts";
import { permitFor } from "../../run/control/index.ts";
import { parseTarget } from "../../target/index.ts";

/** The environment variable of the key in the generated target file. */
export const KEY_VARIABLE = "GW_KEY";

export interface FromGateway {
  /** Of the target file. */
  readonly text: string;
  /** What was read from the gateway, or why nothing was; `undefined` if nothing was tried. */
  readonly gatewayNote: string | undefined;
  /** Whether the gateway served a request, so that the target file contains what it showed. */
  readonly wasRead: boolean;
}

/** The commented-out models section, removed once models are proposed: uncommenting it would repeat the field, which YAML forbids. */
const MODELS_TEMPLATE = /^# models:\n(?: {2}# .*\n)+/m;

/** The target file with what the gateway shows, if it can be reached. */
export async function proposeFromGateway(written: string): Promise<FromGateway> {
  const without = (gatewayNote: string) => ({ text: written, gatewayNote, wasRead: false });
  if (!process.env[KEY_VARIABLE]) return without(`the gateway was not contacted, because ${KEY_VARIABLE} is not set`);
  try {
    const target = parseTarget(written, "gauntlet.yaml", process.env);
    const { budget } = permitFor(target, proposalPlan(target), "checks");
    await using traffic = new Traffic({ target, budget, seed: 1, signal: new AbortController().signal });
    const { yaml, unserved } = await propose(traffic, written);
    if (unserved)
      return {
        ...without(`the gateway served no request with ${KEY_VARIABLE}; the last one got ${unserved}`),
        text: yaml,
      };
    const before = sectionsOf(written);
    const changed = [...sectionsOf(yaml)].flatMap(([name, text]) => (before.get(name) === text ? [] : [name]));
    const gatewayNote =
      changed.length === 0
        ? "the gateway was read: gauntlet.yaml needs no overrides"
        : `read from the gateway: ${changed.join(", ")}`;
    const isModelNew = changed.includes("models") && !before.has("models");
    return { text: isModelNew ? yaml.replace(MODELS_TEMPLATE, "") : yaml, gatewayNote, wasRead: true };
  } catch (error) {
    // The input is useful without a gateway, too.
    return without(`nothing was read from the gateway: ${messageOf(error)}`);
  }
}

/** The fields at the top of a target file, each with its lines, without comments. */
function sectionsOf(yaml: string): Map<string, string> {
  const lines = yaml.split("\n").filter((line) => !/^\s*(?:#|$)/.test(line));
  const sections = lines.join("\n").split(/^(?=\w+:)/m);
  return new Map(sections.map((text) => [text.slice(0, text.indexOf(":")), text.trimEnd()]));
}
