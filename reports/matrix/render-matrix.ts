import { byGateway, changesOf } from "../../src/claims/index.ts";
import { renderBadge } from "./badge.ts";
import { fileNames } from "./file-names.ts";
import { renderMatrixMarkdown } from "./matrix-markdown.ts";
import { renderMatrixPage } from "./matrix-page.tsx";
import { type MatrixSource, profilesIn } from "./matrix-source.ts";

/**
 * The files of a matrix by name: page, feed of changes, table for a README, and a badge for each profile of the newest claim of
 * each gateway. A pure function of its source: no clock.
 */
export function renderMatrix(source: MatrixSource): ReadonlyMap<string, string> {
  const gateways = byGateway(source.claims);
  const ofGateway = fileNames(gateways.map(({ name }) => name));
  const ofProfile = fileNames(profilesIn(source.claims));
  const badges = new Map<string, string>();
  for (const {
    name,
    claims: [newest],
  } of gateways)
    for (const profile of newest.claim.profiles) {
      const names = [ofGateway.get(name), ofProfile.get(profile.name)];
      const usual = `badge-${names.join("-")}.svg`;
      // Gateway `a-b` with profile `c`, and gateway `a` with profile `b-c`.
      badges.set(badges.has(usual) ? `badge-${names.join("--")}.svg` : usual, renderBadge(newest, profile));
    }
  return new Map([
    ["index.html", renderMatrixPage(source)],
    ["changes.json", `${JSON.stringify(changesOf(source.claims), null, 1)}\n`],
    ["matrix.md", renderMatrixMarkdown(source)],
    ...badges,
  ]);
}
