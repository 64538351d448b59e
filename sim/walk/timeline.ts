import { isLoaded } from '../browser/page.ts';
import { rangesOf } from '../world/ranges.ts';
import { accountsOf } from './npm/app.ts';
import type { Plan } from './plan.ts';
import type { Stage } from './stage.ts';

/** Explains the timeline to a reader who sees one for the first time. */
export const legendOf = ({ seed, theme, isDirect, dataset, steps }: Plan): string =>
  `Walk of seed ${seed}, theme ${theme}, ${steps.length} steps, ${isDirect ? 'without' : 'with'} a relay. Options: ${JSON.stringify(dataset)}
Columns: virtual time, actor, action. Numbers are the numbers of events, in the order of the calls of track().
"state" lines follow a task that has changed the state, and show where events are:
  memory: how many unconfirmed events each running page counts; IndexedDB and localStorage: the stored events;
  service: the events that the service has. A dash stands for no event.
`;

/** How many events each running page counts as queued. A page that has only the stub counts none. */
const memoryOf = ({ browser }: Stage): string =>
  [...browser.pages]
    .filter((page) => page.state === 'running' && isLoaded(page))
    .map((page) => `${page.name} ${accountsOf(page).reduce((sum, { stats }) => sum + stats.queued, 0)}`)
    .join(', ') || '–';

const serviceOf = ({ service }: Stage): string => {
  const numbers = service.stored.flatMap(({ payload }) => payload.n ?? []);
  const repeated = numbers.length - new Set(numbers).size;
  return `${rangesOf(numbers)}${repeated ? `, ${repeated} of them again` : ''}`;
};

const stateOf = (stage: Stage): string =>
  `memory: ${memoryOf(stage)} | IndexedDB: ${rangesOf(stage.inDatabase())} | localStorage: ${rangesOf(stage.inJournals())} | service: ${serviceOf(stage)}`;

const NOTHING = 'memory: – | IndexedDB: – | localStorage: – | service: –';
const shown = new WeakMap<Stage, string>();

/** Prints where the events are, if the task with this label has changed that. */
export const logState = (stage: Stage, label: string): void => {
  if (!stage.world.isPrinted) return;
  const state = stateOf(stage);
  if (state !== (shown.get(stage) ?? NOTHING)) stage.world.log('state', () => `${state} (after: ${label})`);
  shown.set(stage, state);
};
