import { type Change, compareCatalogues, isBreaking } from './compare.js';
import { canStart, effectsOf, type Journey } from './journeys.js';
import type { Catalogue } from './schema.js';
import { codeOf } from './words.js';

/** The differences of two catalogues, as Markdown. */
export interface Report {
  readonly text: string;
  /** Whether an event that was accepted is not accepted any more, or a journey that could start cannot. */
  readonly isBreaking: boolean;
}

/** `cart.items[].price` */
const placeOf = (path: readonly string[]): string =>
  path.map((name, at) => (name.startsWith('[') || !at ? name : `.${name}`)).join('');

const lineOf = ({ event, path, text }: Change, effects: readonly string[]): string => {
  const place = path[0] === undefined ? '' : `, ${codeOf(placeOf(path))}`;
  const end = /[?.]$/.test(text) ? '' : '.';
  return [`- ${codeOf(event)}${place}: ${text}${end}`, ...effects].join(' ');
};

const section = (title: string, lines: readonly string[]): string[] =>
  lines[0] === undefined ? [] : [`## ${title}`, '', ...lines, ''];

/** Compares two catalogues, and names the journeys that wait for what has changed. */
export const reportOn = (old: Catalogue, now: Catalogue, journeys: readonly Journey[]): Report => {
  const changes = compareCatalogues(old, now).map((change) => ({ change, effects: effectsOf(change, journeys, now) }));
  const broken = changes.filter(({ change }) => isBreaking(change));
  const others = changes.filter(({ change }) => !isBreaking(change));
  const lines = (some: typeof changes) => some.map(({ change, effects }) => lineOf(change, effects));
  const named = new Set(changes.flatMap(({ effects }) => effects.map((text) => /\*(.*)\*/.exec(text)?.[1])));
  const stuck = journeys.filter((journey) => !named.has(journey.name) && !canStart(journey, now));
  const lost = stuck.filter((journey) => canStart(journey, old));
  const never = stuck.filter((journey) => !lost.includes(journey));
  const journeyLine = ({ name, event, filter }: Journey) =>
    `- *${name}* waits for ${codeOf(event)}${filter ? ` with ${codeOf(filter)}` : ''}.`;
  const text = [
    ...section('Breaking', lines(broken)),
    ...section('Journeys that cannot start any more', lost.map(journeyLine)),
    ...section('Compatible', lines(others)),
    ...section('Journeys that could not start before either', never.map(journeyLine)),
  ];
  return {
    text: text[0] === undefined ? 'No differences.\n' : `${text.join('\n').trimEnd()}\n`,
    isBreaking: broken[0] !== undefined || lost[0] !== undefined,
  };
};
