import { isObject, member } from "../core/index.ts";

/** The entries of a model list; none if the body is not a list. */
export function listEntries(json: unknown): readonly unknown[] {
  const data = member(json, "data");
  return Array.isArray(data) ? data : [];
}

/** Members of an entry in which gateways state the purpose of a model. */
const PURPOSE = ["mode", "type", "task", "kind", "object", "capabilities", "supported_endpoints", "endpoints"];
const CHATS = /chat|completion|messages|language|text-generation|conversation/i;
const OTHER =
  /embed|whisper|\btts\b|speech|transcri|dall-?e|rerank|moderation|image-?gen|images\/|stable-diffusion|\bimagen?\b|\bsora\b|realtime/i;
const GONE = /inactive|disabled|deprecated|retired|unavailable|archived/i;

/**
 * The entries of a list, the most likely chat models first: those that the list itself calls chat models first, those with
 * another stated purpose or name, or no longer served, last. Otherwise the order of the list counts, but owners take turns: a
 * provider that is not set up serves none of its models, and lists are often in alphabetical order.
 */
export function likeliestFirst(entries: readonly unknown[]): readonly unknown[] {
  const turns = new Map<string, number>();
  const ranked = entries.map((entry) => {
    const rank = rankOf(entry);
    const owner = `${rank} ${ownerOf(entry)}`;
    const turn = turns.get(owner) ?? 0;
    turns.set(owner, turn + 1);
    return { entry, rank, turn };
  });
  return ranked.sort((a, b) => a.rank - b.rank || a.turn - b.turn).map(({ entry }) => entry);
}

function rankOf(entry: unknown): number {
  const isOff = member(entry, "active") === false || member(entry, "deprecated") === true;
  if (isOff || GONE.test(String(member(entry, "status") ?? ""))) return 3;
  const output = member(member(entry, "architecture"), "output_modalities");
  const says = JSON.stringify(PURPOSE.map((name) => statedBy(member(entry, name))));
  if (CHATS.test(says) || (Array.isArray(output) && output.includes("text"))) return 0;
  if (OTHER.test(says) || Array.isArray(output)) return 3;
  return OTHER.test(String(member(entry, "id"))) ? 2 : 1;
}

/** A capability that is false does not count. */
function statedBy(value: unknown): unknown {
  return isObject(value) ? Object.keys(value).filter((name) => value[name] !== false) : value;
}

function ownerOf(entry: unknown): string {
  const id = String(member(entry, "id"));
  return id.includes("/") ? (id.split("/")[0] ?? "") : String(member(entry, "owned_by") ?? "");
}
