import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import { REPOSITORY } from "../../scripts/docs/repository.ts";

/** An address of a file or folder of our own repository. */
const OWN_FILE = new RegExp(
  `^https://github\\.com/${REPOSITORY.replaceAll(".", "\\.")}/(?:blob|tree|raw)/main/([^#]+)`,
);

/**
 * Links and images of a page that lead nowhere. A relative one must name a file below `root`, and an anchor of it. An absolute
 * one must be well formed and, if it leads to our own repository, name a file of it.
 */
export function deadLinks(root: string, page: string): string[] {
  const text = readFileSync(join(root, page), "utf8");
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  const dead = (link: string) => !(/^[a-z]+:/.test(link) ? isAlive(link) : leadsToFile(root, page, link));
  return [...new Set(links)].filter(dead);
}

function isAlive(link: string): boolean {
  if (!URL.canParse(link)) return false;
  if (!link.startsWith(`https://github.com/${REPOSITORY}`)) return true;
  const [, path] = OWN_FILE.exec(link) ?? [];
  return path !== undefined && existsSync(join(ROOT, path));
}

const anchorsOfFiles = new Map<string, ReadonlySet<string>>();

function leadsToFile(root: string, page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const file = path === "" ? join(root, page) : join(root, dirname(page), path);
  if (relative(root, file).startsWith("..") || !existsSync(file)) return false;
  if (anchor === undefined) return true;
  const anchors = anchorsOfFiles.get(file) ?? anchorsOf(readFileSync(file, "utf8"));
  anchorsOfFiles.set(file, anchors);
  return anchors.has(anchor);
}

/** Explicit anchors of a page, and the names of its headings as a renderer generates them. */
function anchorsOf(page: string): ReadonlySet<string> {
  const explicit = [...page.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id = ""]) => id);
  const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, "")
      .trim()
      .replaceAll(" ", "-"),
  );
  return new Set([...explicit, ...headings]);
}
