import type { AnyRequirement } from "./custom-requirement.ts";

/** The page of the specification. It has an anchor for each place that a requirement cites. */
export const SPECIFICATION_PAGE = "docs/specification.md";

/** A section ("8") or a place in one ("2.2.model", "7.T.5xx"). */
const PLACE = /\b\d+(?:\.\w+)*/g;

/** The places of the specification that a requirement cites, in the order of its source. */
export function specificationPlaces(requirement: AnyRequirement): string[] {
  return partsOf(requirement).flatMap(({ text, citesSpecification }) =>
    citesSpecification ? (text.match(PLACE) ?? []) : [],
  );
}

/** The source of a requirement with each place of the specification replaced. */
export function linkedSource(requirement: AnyRequirement, link: (place: string) => string): string {
  return partsOf(requirement)
    .map(({ text, citesSpecification }) => (citesSpecification ? text.replace(PLACE, link) : text))
    .join("; ");
}

/**
 * A source of the specification layer has places only. In other layers, a part of it may say "specification 2.7 and 8". That of a
 * custom requirement is the user's.
 */
function partsOf({ layer, source }: AnyRequirement): { text: string; citesSpecification: boolean }[] {
  return source.split("; ").map((text) => ({
    text,
    citesSpecification: layer === "specification" || (layer !== "custom" && text.startsWith("specification ")),
  }));
}
