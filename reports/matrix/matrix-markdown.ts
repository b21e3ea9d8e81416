import { byGateway } from "../../src/claims/index.ts";
import { inline } from "../markdown-text.ts";
import { PROFILE_MARKS } from "../status-style.ts";
import { dayOf, type MatrixSource, profileOf, profilesIn, reasonOf, shortVersion } from "./matrix-source.ts";

/** The newest claim of each gateway as a table for a README. */
export function renderMatrixMarkdown({ claims }: MatrixSource): string {
  const profiles = profilesIn(claims);
  const rows = byGateway(claims).map(({ name, claims: [newest] }) => {
    const cells = profiles.map((profile) => {
      const found = profileOf(newest, profile);
      const reason = reasonOf(newest, found);
      const { sign, word } = found === undefined ? { sign: "–", word: "no result" } : PROFILE_MARKS[found.result];
      return `${sign} ${word}${reason === undefined ? "" : `: ${inline(reason)}`}`;
    });
    return [inline(name), `${inline(shortVersion(newest.claim))}, ${dayOf(newest.claim)}`, ...cells];
  });
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(["gateway", "version, tested", ...profiles.map((profile) => inline(profile))]),
    line(["---", "---", ...profiles.map(() => "---")]),
    ...rows.map(line),
    "",
  ].join("\n");
}
