import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Tracker, TrackerOptions } from '../../src/index.ts';
import { forms } from '../../src/plugins/forms.ts';
import { createMemoryStore, createTestTracker } from '../../src/testing.ts';
import { type FakePage, openPage, settle } from './page.ts';

/** The parts of elements that the plugin reads. */
class FakeElement {
  closest = () => null;
  getAttribute = () => 'email';
}
/** The fields of the document that have `aria-invalid="true"`. */
let wrong: FakeElement[] = [];
class FakeForm extends FakeElement {
  isConnected = true;
  get dataset() {
    return { clewForm: 'signup' };
  }
}

beforeEach(() => {
  wrong = [];
  vi.stubGlobal('Element', FakeElement);
  vi.stubGlobal('HTMLFormElement', FakeForm);
  vi.stubGlobal(
    'MutationObserver',
    class {
      observe() {}
      disconnect() {}
    },
  );
});
/** Dispatches an event of an element to the page. */
const fire = (type: string, target: object) =>
  window.dispatchEvent(Object.defineProperty(new Event(type), 'target', { value: target }));
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it.each([
  ['is abandoned by the visitor who leaves the page', false, ['form_started', 'form_abandoned']],
  ['is not abandoned by the next visitor, whom another tab has begun', true, ['form_started']],
])('a form that a visitor has begun %s', async (_what, isOther, expected) => {
  const page = openPage();
  const open = (options: Partial<TrackerOptions>) => {
    const test = createTestTracker({ baseUrl: '/clew', ...options });
    stops.push(test.tracker.stop);
    return test;
  };
  const { tracker, events, store, transport } = open({ plugins: [forms()] });
  const other = open({ store, transport });
  await Promise.all([tracker.flush(), other.tracker.flush()]);
  const field = Object.assign(new FakeElement(), { form: new FakeForm() });
  fire('input', field);
  await settle();
  if (isOther) other.tracker.reset();
  await settle();
  page.fire('pagehide', { persisted: false });
  await settle();
  expect(events().map(({ event }) => event)).toEqual(expected);
});

it('a form goes on in another element that the app has put in its place', async () => {
  const page = openPage();
  const { tracker, events } = createTestTracker({ baseUrl: '/clew', plugins: [forms()] });
  stops.push(tracker.stop);
  await tracker.flush();
  const [old, next] = [new FakeForm(), new FakeForm()];
  fire('input', Object.assign(new FakeElement(), { form: old }));
  old.isConnected = false;
  page.pass(3000);
  fire('input', Object.assign(new FakeElement(), { form: next }));
  fire('submit', next);
  await settle();
  page.fire('pagehide', { persisted: false });
  await settle();
  expect(events().map(({ event }) => event)).toEqual(['form_started', 'form_submitted']);
  expect(events('form_submitted')[0]?.payload).toMatchObject({ duration: 3000 });
});

describe('a submit that the app handles', () => {
  const fieldOf = (form: FakeForm) => Object.assign(new FakeElement(), { form });
  /** Submits a form. Returns whether the app handles it, as the browser sees it. */
  const submit = (form: FakeForm, isHandled = true) => {
    const event = Object.defineProperty(new Event('submit', { cancelable: true }), 'target', { value: form });
    if (isHandled) window.addEventListener('submit', (one) => one.preventDefault(), { once: true });
    window.dispatchEvent(event);
  };
  /** A visitor changes a form and submits it. Returns the names of its events until the visitor leaves. */
  const submitAnd = async (act: (page: FakePage, form: FakeForm) => void, isHandled = true) => {
    const page = openPage();
    Object.assign(document, { querySelectorAll: () => wrong });
    const { tracker, events } = createTestTracker({ baseUrl: '/clew', plugins: [forms()] });
    stops.push(tracker.stop);
    await tracker.flush();
    const form = new FakeForm();
    wrong = [fieldOf(form)];
    fire('input', fieldOf(form));
    submit(form, isHandled);
    act(page, form);
    page.fire('pagehide', { persisted: false });
    await settle();
    return events().map(({ event }) => event.replace('form_', ''));
  };

  it.each<[string, (page: FakePage, form: FakeForm) => void, string[]]>([
    ['has errors that are still marked two seconds later', (page) => page.pass(2001), ['error', 'abandoned']],
    ['has no errors before that, since the app may still check', (page) => page.pass(1900), []],
    [
      'has no errors if the app removes the marks meanwhile',
      (page) => {
        page.pass(1900);
        wrong = [];
        page.pass(1000);
      },
      [],
    ],
    [
      'has errors that are still marked as the visitor goes on',
      (page, form) => {
        page.pass(500);
        fire('input', fieldOf(form));
        page.pass(3000);
      },
      ['error', 'abandoned'],
    ],
    [
      'has errors again after a further attempt',
      (page, form) => {
        page.pass(2001);
        submit(form);
        page.pass(2001);
      },
      ['error', 'submitted', 'error', 'abandoned'],
    ],
    [
      'has errors that the next element of the form has from the start',
      (page, form) => {
        form.isConnected = false;
        wrong = [fieldOf(new FakeForm())];
        page.pass(2001);
      },
      ['error', 'abandoned'],
    ],
    [
      'has no errors of another form with the same mark',
      (page) => {
        wrong = [fieldOf(new FakeForm())];
        page.pass(2001);
      },
      [],
    ],
  ])('%s', async (_case, act, expected) => {
    expect(await submitAnd(act)).toEqual(['started', 'submitted', ...expected]);
  });

  it('is no submit of the browser, which keeps old marks until the next page opens', async () => {
    expect(await submitAnd((page) => page.pass(5000), false)).toEqual(['started', 'submitted']);
  });
});

it('a second form with the same mark is a form of its own', async () => {
  const page = openPage();
  const { tracker, events } = createTestTracker({ baseUrl: '/clew', plugins: [forms()] });
  stops.push(tracker.stop);
  await tracker.flush();
  for (const form of [new FakeForm(), new FakeForm()]) fire('input', Object.assign(new FakeElement(), { form }));
  page.fire('pagehide', { persisted: false });
  await settle();
  expect(events('form_started')).toHaveLength(2);
  expect(events('form_abandoned')).toHaveLength(2);
});

describe('a form in a hidden tab that the browser ends', () => {
  const HOUR = 3_600_000;
  type Act = (form: FakeForm, tracker: Tracker) => void;

  /** A visitor begins a form and hides the tab. Returns the form's events, with those that a later page tracks. */
  const endHidden = async (act: Act) => {
    const page = openPage();
    const store = createMemoryStore();
    const open = () => {
      const test = createTestTracker({ baseUrl: '/clew', store, plugins: [forms()] });
      stops.push(test.tracker.stop);
      return test;
    };
    const first = open();
    await first.tracker.flush();
    const form = new FakeForm();
    fire('input', Object.assign(new FakeElement(), { form }));
    page.pass(3000);
    page.look(false, false);
    page.pass(60_000);
    act(form, first.tracker);
    await settle();
    await first.tracker.flush();
    // The browser stops the page's timers.
    vi.clearAllTimers();
    openPage();
    vi.setSystemTime(Date.now() + HOUR);
    const later = open();
    for (let round = 0; round < 2; round++) {
      await later.tracker.flush();
      await settle();
    }
    return [...first.events(), ...later.events()].filter(({ event }) => event.startsWith('form_'));
  };

  it.each<[string, Act, string[]]>([
    ['is abandoned', () => {}, ['form_started', 'form_abandoned']],
    ['and submits it is not abandoned', (form) => fire('submit', form), ['form_started', 'form_submitted']],
    [
      'and shows another view is abandoned once',
      (form, tracker) => {
        form.isConnected = false;
        tracker.page();
      },
      ['form_started', 'form_abandoned'],
    ],
    [
      'and fills it in again after the submit is abandoned',
      (form) => {
        fire('submit', form);
        fire('input', Object.assign(new FakeElement(), { form }));
      },
      ['form_started', 'form_submitted', 'form_started', 'form_abandoned'],
    ],
  ])('%s', async (_case, act, expected) => {
    expect((await endHidden(act)).map(({ event }) => event)).toEqual(expected);
  });
});

it.each<[string, (page: FakePage, form: FakeForm, tracker: Tracker) => void]>([
  ['unloads', (page) => page.fire('pagehide', { persisted: false })],
  [
    'shows another view',
    (_page, form, tracker) => {
      form.isConnected = false;
      tracker.page();
    },
  ],
])(
  'a form that another page has reported as abandoned is not reported again as its hidden tab %s',
  async (_case, act) => {
    const page = openPage();
    const { tracker, events, store } = createTestTracker({ baseUrl: '/clew', plugins: [forms()] });
    stops.push(tracker.stop);
    await tracker.flush();
    const form = new FakeForm();
    fire('input', Object.assign(new FakeElement(), { form }));
    page.look(false, false);
    // Another page takes what is kept.
    for (const key of Object.keys(store.local ?? {})) if (key.includes('plugins')) delete store.local?.[key];
    act(page, form, tracker);
    await settle();
    expect(events().filter(({ event }) => event === 'form_abandoned')).toEqual([]);
  },
);
