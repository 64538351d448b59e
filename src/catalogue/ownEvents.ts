import { type EventSchema, eventSchema, type Schema } from './schema.js';

const TEXT: Schema = { type: 'string' };
const TIME: Schema = { type: 'number' };
const MOMENT: Schema = { type: 'string', format: 'date-time' };

const own = (
  name: string,
  description: string,
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): EventSchema =>
  eventSchema({ const: name }, name, { type: 'object', properties, ...(required[0] && { required }) }, false, {
    description,
  });

const described = (schema: Schema, description: string): Schema => ({ ...schema, description });

const ENDED = described(MOMENT, 'When the visitor left, if a later page tracks the event.');

/** The events of clew itself that need no marks. A site that does not use their plugins never tracks them. */
export const OWN_EVENTS: readonly EventSchema[] = [
  own('page_view', 'The visitor sees a page. Tracked by `page()` and by page views.', {
    url: described(TEXT, 'The address.'),
    path: described(TEXT, 'The path of the address.'),
    title: described(TEXT, 'The title of the page.'),
    referrer: described(TEXT, 'The address of the page before.'),
  }),
  own('outbound_clicked', 'The visitor follows a link to another host. Tracked by clicks, option `outbound`.', {
    url: described(TEXT, 'The address of the link.'),
  }),
  own('file_downloaded', 'The visitor follows a link to a file. Tracked by clicks, option `downloads`.', {
    url: described(TEXT, 'The address of the file.'),
  }),
  own('page_left', 'The visitor leaves a page. Tracked by the plugin `engagement`.', {
    url: described(TEXT, 'The address.'),
    path: described(TEXT, 'The path of the address.'),
    title: described(TEXT, 'The title of the page.'),
    activeTime: described(TIME, 'The active time (ms) since the event before.'),
    totalTime: described(TIME, 'The active time (ms) of the whole view.'),
    scrollDepth: described(TIME, 'The deepest point seen, in percent of the height.'),
    part: described(TIME, 'The number of the event among those of the view.'),
    endedAt: ENDED,
  }),
  own('first_touch', 'What led to the first visit. Tracked by the plugin `firstTouch`.', {
    first_utm_source: TEXT,
    first_utm_medium: TEXT,
    first_utm_campaign: TEXT,
    first_utm_term: TEXT,
    first_utm_content: TEXT,
    first_referrer: described(TEXT, 'The page that led to the site.'),
    first_landing_page: described(TEXT, 'The address of the first page.'),
  }),
];

const FIELD = described(TEXT, 'The name of the field.');
const DURATION = described(TIME, 'The time (ms) since the visitor began.');

/** The events of the plugin `forms`, with the properties of the marks. */
export const formEvents = ({ properties: marks = {}, required = [] }: Schema): EventSchema[] => [
  own('form_started', 'The visitor starts a form.', { ...marks, field: FIELD }, required),
  own(
    'form_error',
    'The visitor sees errors in a form.',
    { ...marks, fields: { type: 'array', items: TEXT, description: 'The names of the fields.' } },
    required,
  ),
  own('form_submitted', 'The visitor submits a form.', { ...marks, field: FIELD, duration: DURATION }, required),
  own(
    'form_abandoned',
    'The visitor leaves a form that is started and not submitted.',
    { ...marks, field: FIELD, duration: DURATION, endedAt: ENDED },
    required,
  ),
];
