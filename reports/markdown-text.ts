import { oneLine, visible } from "./clean-text.ts";

const MAX_TEXT_CHARACTERS = 300;
const MAX_CODE_CHARACTERS = 600;

/** Preformatted lines. Such an element is not parsed as Markdown, and names in it are not mentions. */
export function preformatted(text: string): string {
  return `<pre>\n${html(text).replaceAll("@", "&#64;")}</pre>`;
}

/** Text in backquotes, or an address without the punctuation after it. */
const CODE = /`([^`]+)`|\b[a-z][a-z0-9+.-]*:\/\/[^\s<>"'`]*[^\s<>"'`.,;:)]/gi;
/** A colon at the beginning of what may be an emoji, such as `:smile:`. Any other colon stays readable in notification mails. */
const EMOJI = /:(?=[\w+-]+:)/g;

/**
 * Plain text: Markdown and HTML are escaped. Text in backquotes and addresses become code, which hosts do not turn into links.
 */
export function inline(text: string): string {
  const line = oneLine(text, MAX_TEXT_CHARACTERS);
  let written = "";
  let end = 0;
  for (const { index, 0: found, 1: quoted } of line.matchAll(CODE)) {
    written += `${escaped(line.slice(end, index))}<code>${escaped(quoted ?? found)}</code>`;
    end = index + found.length;
  }
  return (written + escaped(line.slice(end))).replace(BLOCK_START, toCharacterReference);
}

/** Characters that start a heading, a list item, a task or a link definition at the beginning of a line. */
const BLOCK_START = /^[#+[-]/;

/**
 * What Markdown, and the hosts of comments, read as markup within a line: an underscore inside a word and brackets without an
 * address are plain text.
 */
const MARKUP = new RegExp(
  [
    "[\\\\`*|~@]",
    String.raw`(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])`,
    // A link, a footnote, and what GitLab reads as a wiki link or an inline diff.
    String.raw`\[(?=[[^+-])|(?<=\])[([:]|\{(?=[+-])`,
    // A number of an issue or a merge request, and an image.
    String.raw`#(?=\w)|!(?=[\d[])`,
  ].join("|"),
  "gu",
);

const toCharacterReference = (sign: string): string => `&#${sign.charCodeAt(0)};`;

const escaped = (text: string): string => html(text).replace(MARKUP, toCharacterReference).replace(EMOJI, "&#58;");

function html(text: string): string {
  return visible(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Inline code that contains backquotes, on one line. */
export function code(text: string): string {
  return command(oneLine(text, MAX_CODE_CHARACTERS));
}

/** The same for a command to paste: never shortened. */
export function command(text: string): string {
  return `<code>${escaped(text)}</code>`;
}
