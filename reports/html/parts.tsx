import type { ComponentChildren } from "preact";
import type { Status } from "../../src/record/index.ts";
import { oneLine, visible } from "../clean-text.ts";
import { type Mark, SIGNS, TONES } from "../status-style.ts";

interface SectionProps {
  readonly id: string;
  readonly title: string;
  readonly finding: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** A linkable section of the page: its number, its title, and its main finding in one sentence. */
export function Section({ id, title, finding, children }: SectionProps) {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>
        {title}
        <Permalink id={id} what={title} />
      </h2>
      <p class="finding">{typeof finding === "string" ? <Prose text={finding} /> : finding}</p>
      {children}
    </section>
  );
}

interface HeadingProps {
  readonly id: string;
  readonly title: string;
  readonly more?: string;
}

/** A linkable heading inside a section. */
export function Heading({ id, title, more = "" }: HeadingProps) {
  return (
    <h3 id={id}>
      {title}
      {more}
      <Permalink id={id} what={title} />
    </h3>
  );
}

export function Permalink({ id, what }: { readonly id: string; readonly what: string }) {
  return (
    <a class="perma" href={`#${id}`} aria-label={`Link to ${oneLine(what, 80)}`}>
      #
    </a>
  );
}

/** A status as sign, word and colour. */
export function StatusMark({ status, label }: { readonly status: Status; readonly label?: string }) {
  return (
    <span class={`mark ${TONES[status]}`}>
      <span class="sign" aria-hidden="true">
        {SIGNS[status]}
      </span>
      {label ?? status}
    </span>
  );
}

/** A result of a claim as sign, word and colour. */
export function ResultMark({ sign, tone, word }: Mark) {
  return (
    <span class={`mark ${tone}`}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      {word}
    </span>
  );
}

/** External text, shown verbatim with control characters made visible. */
export function Foreign({ text }: { readonly text: string }) {
  return <span class="foreign">{visible(text)}</span>;
}

/** Several sentences, one below the other; nothing if there are none. */
export function SentenceList({ texts }: { readonly texts: readonly string[] }) {
  if (texts.length === 0) return null;
  return (
    <ul>
      {texts.map((text) => (
        <li key={text}>
          <Sentence text={text} />
        </li>
      ))}
    </ul>
  );
}

/** Text in backquotes; the second one is missing if the sentence was cut there. */
const CODE = /`([^`]+(?:`|…$))/;

/** A sentence that we wrote, with text in backquotes as code. */
export function Prose({ text }: { readonly text: string }) {
  return (
    <>
      {text
        .split(CODE)
        .map((part, index) =>
          index % 2 === 0 ? visible(part) : <code key={index}>{visible(part.replace(/`$/, ""))}</code>,
        )}
    </>
  );
}

/** A sentence that we wrote and that may quote the gateway: a message, a title, what was expected. */
export function Sentence({ text }: { readonly text: string }) {
  return (
    <span class="foreign">
      <Prose text={text} />
    </span>
  );
}

export interface Cell {
  readonly value: ComponentChildren;
  /** Numbers are right-aligned. */
  readonly number?: boolean;
}

/** Headers of numeric columns. */
export const numbers = (...names: readonly string[]): Cell[] => names.map((value) => ({ value, number: true }));

/** Columns that fit on a narrow page. */
const MAX_NARROW = 4;

interface DataTableProps {
  readonly caption: string;
  readonly head: readonly (string | Cell)[];
  readonly rows: readonly (readonly (ComponentChildren | Cell)[])[];
  /** The caption is for screen readers only, because the context already says it. */
  readonly quietCaption?: boolean;
  /** The row headers stay in view when the table scrolls. */
  readonly matrix?: boolean;
}

/**
 * A table that scrolls horizontally on narrow pages and can therefore be focused.
 *
 * @param rows the first cell of each is the row header.
 */
export function DataTable({ caption, head, rows, quietCaption = false, matrix = false }: DataTableProps) {
  const heads = head.map(toCell);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable without a mouse
    // biome-ignore lint/a11y/useSemanticElements: a fieldset groups inputs, and this groups none
    <div class={matrix ? "scroll matrix" : "scroll"} tabIndex={0} role="group" aria-label={caption}>
      <table class={head.length > MAX_NARROW ? "wide" : undefined}>
        <caption class={quietCaption ? "unseen" : undefined}>{caption}</caption>
        <thead>
          <tr>
            {heads.map(({ value, number }, index) => (
              <th key={index} scope="col" class={number ? "number" : undefined}>
                {value}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map(toCell).map(({ value, number }, column) =>
                column === 0 ? (
                  <th key={column} scope="row">
                    {value}
                  </th>
                ) : (
                  <td key={column} class={number || heads[column]?.number ? "number" : undefined}>
                    {value}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function toCell(cell: ComponentChildren | Cell): Cell {
  return typeof cell === "object" && cell !== null && "value" in cell && !("type" in cell)
    ? (cell as Cell)
    : { value: cell as ComponentChildren };
}

/** Names and values, one pair per line. */
export function Facts({ pairs }: { readonly pairs: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {pairs.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface ScrollTextProps {
  readonly kind: "listing" | "command";
  readonly label: string;
  readonly copy?: boolean;
  readonly children: ComponentChildren;
}

/** Monospaced text that scrolls and can therefore be focused. */
export function ScrollText({ kind, label, copy, children }: ScrollTextProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable without a mouse
    // biome-ignore lint/a11y/useSemanticElements: a fieldset groups inputs, and this groups none
    <pre class={kind} role="group" tabIndex={0} aria-label={label} data-copy={copy ? "" : undefined}>
      {children}
    </pre>
  );
}

/** Text to copy; the script adds the button. */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <ScrollText kind="command" label={label} copy>
      <code>{text}</code>
    </ScrollText>
  );
}
interface FigureProps {
  readonly title: string;
  readonly note?: ComponentChildren;
  readonly drawing: ComponentChildren;
  /** The data table of the drawing, unless another part of the page shows it. */
  readonly children?: ComponentChildren;
}

/** A drawing with its description and data table. */
export function Figure({ title, note, drawing, children }: FigureProps) {
  return (
    <figure>
      <figcaption>
        <strong>{title}</strong>
        {note === undefined ? null : <span class="note">{note}</span>}
      </figcaption>
      {drawing}
      {children === undefined ? null : (
        <details class="behind">
          <summary>The table behind it</summary>
          {children}
        </details>
      )}
    </figure>
  );
}
