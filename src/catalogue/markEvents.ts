import { eventNamed, payloadFault } from './fits.js';
import type { Mark, Values } from './marks.js';
import { nameFault } from './nameFault.js';
import { formEvents } from './ownEvents.js';
import { alternativesOf, type Definitions, type EventSchema, eventSchema, type Schema, unionOf } from './schema.js';

/** The events of marks. */
export interface MarkEvents {
  /** Those that the types do not declare, and those of the plugin `forms`. */
  readonly events: readonly EventSchema[];
  /** Marks that do not fit their declared event, or whose name the tracker rejects. */
  readonly faults: readonly string[];
  /** Marks that the catalogue cannot know. */
  readonly notes: readonly string[];
}

/** The payload of all these marks. A property is required if each of them has it. */
const payloadOfAll = (marks: readonly Mark[]): Schema => {
  const names = [...new Set(marks.flatMap(({ properties }) => [...properties.keys()]))];
  const schemaOf = (name: string): Schema => {
    const given = marks.filter(({ properties }) => properties.has(name)).map(({ properties }) => properties.get(name));
    return unionOf(
      given.flatMap((values): Schema[] => values?.map((value) => ({ const: value })) ?? [{ type: 'string' }]),
    );
  };
  const required = names.filter((name) =>
    marks.every(({ properties, optional }) => properties.has(name) && !optional.has(name)),
  );
  return {
    type: 'object',
    ...(names[0] !== undefined && { properties: Object.fromEntries(names.map((name) => [name, schemaOf(name)])) }),
    ...(required[0] !== undefined && { required }),
  };
};

/** Texts to try for a property whose value the page computes: those that the types allow, and any other. */
const texts = (payload: Schema, name: string, defs: Definitions): readonly string[] => {
  const own = alternativesOf(payload, defs).flatMap(({ properties }) =>
    properties?.[name] ? alternativesOf(properties[name], defs) : [],
  );
  return [...new Set(own.map(({ const: value }) => value).filter((value) => typeof value === 'string')), 'text'];
};

/** Most payloads of one mark that are tried. */
const MOST = 200;

/** The payloads that a mark may have. Those with a list of texts for a property whose value is unknown come as one group. */
const payloadsOf = (known: readonly (readonly [string, Values])[]): Record<string, string>[] => {
  let payloads: Record<string, string>[] = [{}];
  for (const [name, values] of known)
    payloads = payloads
      .flatMap((payload) => (values ?? []).map((value) => ({ ...payload, [name]: value })))
      .slice(0, MOST);
  return payloads;
};

/** Why a mark does not fit the event that the types declare. */
const markFault = (mark: Mark, event: EventSchema, defs: Definitions): string | undefined => {
  const { payload = {} } = event.properties;
  const given = [...mark.properties];
  const certain = given.filter(([, values]) => values);
  const computed = given.filter(([, values]) => !values).map(([name]) => [name, texts(payload, name, defs)] as const);
  const options = payloadsOf(computed);
  for (const one of payloadsOf(certain)) {
    const faults = options.map((other) => payloadFault(event, { ...one, ...other }, defs));
    if (faults.every((fault) => fault !== undefined)) return faults[0];
  }
  return undefined;
};

/** The events that marked elements track, and what is wrong with them. */
export const eventsOfMarks = (
  marks: readonly Mark[],
  declared: readonly EventSchema[],
  defs: Definitions,
): MarkEvents => {
  const faults: string[] = [];
  const notes: string[] = [];
  const byName = new Map<string, Mark[]>();
  for (const mark of marks.filter(({ kind }) => kind !== 'form')) {
    if (!mark.names) notes.push(`${mark.place}: the name of the event is computed, so the catalogue does not have it`);
    for (const name of mark.names ?? []) {
      const rejected = nameFault(name);
      if (rejected) {
        faults.push(`${mark.place}: ${rejected}`);
        continue;
      }
      const event = eventNamed(declared, name);
      const fault = event && mark.kind === 'event' && markFault(mark, event, defs);
      if (fault) faults.push(`${mark.place}: ${name}: ${fault}`);
      if (!event) byName.set(name, [...(byName.get(name) ?? []), mark]);
    }
  }
  const events = [...byName].map(([name, same]) => {
    const isCalled = same.some(({ kind }) => kind === 'call');
    return eventSchema({ const: name }, name, isCalled ? {} : payloadOfAll(same), isCalled);
  });
  const forms = marks.filter(({ kind }) => kind === 'form');
  const ofForms = forms[0] ? formEvents(payloadOfAll(forms)) : [];
  return { events: [...events, ...ofForms], faults, notes };
};
