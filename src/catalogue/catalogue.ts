import { eventsOfMarks } from './markEvents.js';
import type { Mark } from './marks.js';
import { OWN_EVENTS } from './ownEvents.js';
import { mergeEvents, type ReadEvents } from './readTypes.js';
import { type Catalogue, DIALECT } from './schema.js';

/** A catalogue, and what is wrong with its sources. */
export interface MadeCatalogue {
  readonly catalogue: Catalogue;
  /** Types that clew cannot send, and marks that do not fit their types. */
  readonly faults: readonly string[];
  /** Events that the catalogue cannot know. */
  readonly notes: readonly string[];
}

/**
 * Makes the catalogue of types and marks. The events of clew itself come last, except those that the types declare or marks name. Such an
 * event may also be clew's own.
 */
export const makeCatalogue = ({ events, defs, problems }: ReadEvents, marks: readonly Mark[]): MadeCatalogue => {
  const marked = eventsOfMarks(marks, events, defs);
  return {
    catalogue: {
      $schema: DIALECT,
      title: 'Event catalogue',
      description: 'Made by `npx clew catalogue`. Each event has its name and its payload.',
      anyOf: mergeEvents([...events, ...marked.events, ...OWN_EVENTS]),
      ...(Object.keys(defs)[0] !== undefined && { $defs: defs }),
    },
    faults: [...problems, ...marked.faults],
    notes: marked.notes,
  };
};
