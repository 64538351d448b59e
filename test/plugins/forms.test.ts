import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { TrackerOptions } from '../../src/index.ts';
import { forms } from '../../src/plugins/forms.ts';
import { createTestTracker } from '../../src/testing.ts';
import { openPage, settle } from './page.ts';

/** The parts of elements that the plugin reads. */
class FakeElement {
  closest = () => null;
  getAttribute = () => 'email';
}
class FakeForm extends FakeElement {
  readonly isConnected = true;
  get dataset() {
    return { clewForm: 'signup' };
  }
}

beforeEach(() => {
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
  window.dispatchEvent(Object.defineProperty(new Event('input'), 'target', { value: field }));
  await settle();
  if (isOther) other.tracker.reset();
  await settle();
  page.fire('pagehide', { persisted: false });
  await settle();
  expect(events().map(({ event }) => event)).toEqual(expected);
});
