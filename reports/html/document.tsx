import type { ComponentChildren } from "preact";
import { visible } from "../clean-text.ts";

export interface Head {
  readonly policy: string;
  /** Absent: linked from the files next to the page. */
  readonly style?: string;
  /** Absent: linked from the files next to the page; `null`: the page needs none. */
  readonly script?: string | null;
}

interface DocumentProps {
  readonly title: string;
  readonly head: Head;
  /** What the link at the beginning skips to. */
  readonly main?: string;
  readonly children: ComponentChildren;
}

/** A page with its content security policy, style and script, and a link that skips to the main part. */
export function Document({ title, head, main = "the verdict", children }: DocumentProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content={head.policy} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{visible(title).slice(0, 120)}</title>
        {head.style === undefined ? (
          <link rel="stylesheet" href="report.css" />
        ) : (
          <style dangerouslySetInnerHTML={{ __html: head.style }} />
        )}
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to {main}
        </a>
        {children}
        {head.script === undefined ? <script src="report.js" /> : null}
        {typeof head.script === "string" ? <script dangerouslySetInnerHTML={{ __html: head.script }} /> : null}
      </body>
    </html>
  );
}

export function Masthead({ what, children }: { readonly what: string; readonly children: ComponentChildren }) {
  return (
    <header class="mast">
      <p class="brand">
        <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
          <path d="M2 3h4v14H2zM14 3h4v14h-4zM8 6h4v2H8zM8 12h4v2H8z" />
        </svg>
        Gauntlet <span>{what}</span>
      </p>
      <p class="when">{children}</p>
    </header>
  );
}
