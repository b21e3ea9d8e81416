import type { ProfileResult } from "../../src/record/index.ts";
import { oneLine } from "../clean-text.ts";
import { PROFILE_MARKS, type Tone } from "../status-style.ts";
import { dayOf, isKnown, isUnverified, type MatrixClaim, UNVERIFIED, versionText } from "./matrix-source.ts";

/** Marks the files that a later matrix may replace or delete. */
export const BADGE_MARK = "<!-- gauntlet badge -->";

/** White text has a contrast of at least 4.5 to 1 on each. */
const FILLS: Readonly<Record<Tone, string>> = {
  good: "#17693f",
  bad: "#a9201a",
  caution: "#7d5200",
  held: "#5f3f9e",
  quiet: "#565c63",
};

/** Average width of a character of the font at 11 px; `textLength` makes the text fit exactly. */
const CHARACTER_PX = 6.6;
const PADDING_PX = 8;

/** A profile of a claim as a picture: profile, result, requirement set and date. */
export function renderBadge(shown: MatrixClaim, profile: ProfileResult): string {
  const { claim } = shown;
  const { sign, word, tone } = PROFILE_MARKS[profile.result];
  const left = `${oneLine(profile.name, 30)} v${profile.version}${isKnown(profile) ? "" : " (unknown)"}`;
  const unverified = isUnverified(shown, profile) ? ` (${UNVERIFIED})` : "";
  const right = `${sign} ${word}${unverified} · set ${oneLine(claim.requirementSet.version, 20)} · ${dayOf(claim)}`;
  const [leftPx, rightPx] = [left, right].map((text) => Math.ceil([...text].length * CHARACTER_PX));
  const [first, second] = [(leftPx ?? 0) + 2 * PADDING_PX, (rightPx ?? 0) + 2 * PADDING_PX];
  const title = `${oneLine(claim.gateway.name, 60)} ${oneLine(versionText(claim), 60)}: ${left}: ${right}`;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${first + second}" height="20" role="img" aria-label="${xml(title)}">`,
    BADGE_MARK,
    `<title>${xml(title)}</title>`,
    `<rect width="${first}" height="20" fill="#1b1d1f"/><rect x="${first}" width="${second}" height="20" fill="${FILLS[tone]}"/>`,
    `<g fill="#ffffff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11">`,
    `<text x="${PADDING_PX}" y="14" textLength="${leftPx}">${xml(left)}</text>`,
    `<text x="${first + PADDING_PX}" y="14" textLength="${rightPx}">${xml(right)}</text>`,
    "</g></svg>",
  ].join("\n")}\n`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};
const xml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
