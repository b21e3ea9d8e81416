import { PROFILE_NAMES } from "../../src/requirements/index.ts";

/** Class of a checkbox that selects a profile, and of the cell of a gateway that meets it. */
export const needClass = (profile: string): string => `need-${profile}`;
export const meetsClass = (profile: string): string => `meets meets-${profile}`;

/** Without a script, a checkbox hides the rows of gateways that do not meet its profile. */
const HIDING = PROFILE_NAMES.map(
  (name) =>
    `#matrix:has(.${needClass(name)}:checked) tbody tr:not(:has(.${meetsClass(name).replace(" ", ".")})) { display: none; }`,
).join("\n");

/** What only the matrix needs besides the style of all pages. */
export const MATRIX_STYLE = `
.needs { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; align-items: baseline; border: 1px solid var(--line); border-radius: 6px;
  margin: 0 0 .8rem; padding: .45rem .8rem .6rem; font-size: .9rem; }
.needs legend { padding: 0 .35rem; color: var(--soft); }
.needs label { white-space: nowrap; padding: .15rem 0; }
.needs .note { flex-basis: 100%; margin: 0; }
.choice { display: block; margin: 0 0 .25rem; overflow-wrap: anywhere; }
.choice .mark { margin-right: .35em; }
.lack { color: var(--soft); font-size: .88rem; }
#needs tbody th:has(.because) { min-width: 8.5rem; }
#matrix td, #matrix thead th:not(:first-child) { padding: .32rem .25rem; }
.matrix td:has(> .meets) { background: var(--good-wash); }
${HIDING}
@media print {
  .needs { display: none; }
  #matrix td, #matrix thead th { min-width: 0; padding: 3pt 1.5pt; }
  #matrix thead th, #matrix td .mark, #matrix .because, #matrix thead small { font-size: 5.7pt; }
  #matrix tbody th { min-width: 5.4rem; max-width: 6.2rem; }
}
`;
