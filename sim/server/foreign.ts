import { type Conditions, FAIR, type NetworkAnswer } from './network.ts';

/** Answers of a captive portal, a CDN, a proxy or a service worker. */
const ANSWERS = {
  page: { status: 200, headers: { 'Content-Type': 'text/html; charset=utf-8' }, text: '<!doctype html>' },
  partialPage: { status: 206, headers: { 'Content-Type': 'Text/HTML' }, text: '<!doctype' },
  emptyPage: { status: 200, headers: { 'Content-Type': 'text/html' }, text: '' },
  object: { status: 200, headers: { 'Content-Type': 'application/json' }, text: '{"status":"ok"}' },
  list: { status: 200, headers: { 'Content-Type': 'application/json' }, text: '[]' },
  null: { status: 200, headers: { 'Content-Type': 'application/json' }, text: 'null' },
  string: { status: 203, headers: { 'Content-Type': 'application/json' }, text: '""' },
  /** The beginning of an answer of the relay. */
  beginning: { status: 206, headers: { 'Content-Type': 'application/json' }, text: '{"rejected":[{"uu' },
  text: { status: 200, headers: { 'Content-Type': 'text/plain' }, text: 'OK' },
  empty: { status: 200, headers: {}, text: '' },
  noContent: { status: 204, headers: {}, text: '' },
  /** To a login page that answers 200. */
  redirect: { status: 302, headers: { 'Content-Type': 'text/html' }, text: '<!doctype html>' },
  notModified: { status: 304, headers: {}, text: '' },
  forbidden: { status: 403, headers: { 'Content-Type': 'application/json' }, text: '{"status":200}' },
  /** https://www.rfc-editor.org/rfc/rfc6585#section-6 */
  portal: { status: 511, headers: { 'Content-Type': 'text/html' }, text: '<!doctype html>' },
} as const satisfies Readonly<Record<string, NetworkAnswer>>;

/** A transforming proxy answers 203 and passes on few headers: https://www.rfc-editor.org/rfc/rfc9110#section-15.3.4 */
const strip = (answer: NetworkAnswer): NetworkAnswer => ({
  ...answer,
  status: answer.status === 201 ? 203 : answer.status,
  headers: {},
});

/** How another server answers in place of the relay or the service, or changes their answers. */
export type Form = keyof typeof ANSWERS | 'stripped' | 'stale';

export const FORMS = [...Object.keys(ANSWERS), 'stripped', 'stale'] as readonly Form[];

/** Forms that the service itself may send. The docs name the limit: "Foreign answers, direct". */
const LIKE_SERVICE: ReadonlySet<Form> = new Set([
  'object',
  'list',
  'null',
  'string',
  'beginning',
  'text',
  'empty',
  'noContent',
]);

/** In walks without a relay, a page stands in for the forms that the service itself may send. */
export const standInFor = (form: Form, isDirect: boolean): Form => (isDirect && LIKE_SERVICE.has(form) ? 'page' : form);

/** The conditions with this form. */
export const foreignOf = (form: Form): Conditions => {
  if (form === 'stripped') return { ...FAIR, change: strip };
  if (form === 'stale') return { ...FAIR, isStale: true };
  return { ...FAIR, foreign: ANSWERS[form] };
};
