// @module-tag promise
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PluginTools, Tracker } from '../../src/api/types.ts';
import { type ClickOptions, clicks } from '../../src/page/clicks.ts';

/**
 * Elements as far as `clicks` reads them, and events with the path that a browser would give them. Which events browsers
 * dispatch, shadow roots and labels included, is in e2e/clicks.spec.ts.
 */
interface Fake {
  localName: string;
  type?: string;
  dataset: Record<string, string>;
  [more: string]: unknown;
}
/** An element has its `dataset` from its prototype, as in a browser. */
const element = (localName: string, dataset: Record<string, string> = {}, more: object = {}): Fake => {
  const prototype = Object.assign(localName === 'form' ? new HTMLFormElement() : {}, { dataset });
  return Object.assign(Object.create(prototype), { localName, hasAttribute: () => false, ...more });
};
const marked = (localName: string, type?: string) => element(localName, { clewEvent: 'marked' }, type ? { type } : {});
const link = (href: string, attributes: string[] = [], marks: Record<string, string> = {}): Fake =>
  element('a', marks, { href, hasAttribute: (name: string) => attributes.includes(name) });
/** An anchor, as far as `clicks` reads and changes its address. */
const createElement = () => new URL('about:blank');

let window: EventTarget;
beforeEach(() => {
  window = new EventTarget();
  vi.stubGlobal('window', window);
  vi.stubGlobal('location', { host: 'shop.example' });
  vi.stubGlobal('ShadowRoot', class extends EventTarget {});
  vi.stubGlobal('HTMLFormElement', class {});
  vi.stubGlobal('document', { createElement });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const start = (options?: ClickOptions) => {
  const track = vi.fn();
  const stop = clicks(options)({ track } as unknown as Tracker, {} as PluginTools);
  /** The innermost element comes first, as in `composedPath`. */
  const fire = (type: string, path: object[], more: object = {}) => {
    const event = new Event(type, { bubbles: true });
    window.dispatchEvent(Object.assign(event, { button: 0, composedPath: () => [...path, window], ...more }));
  };
  return { fire, stop, tracked: () => track.mock.calls };
};

describe('a marked element', () => {
  it.each([
    ['button', undefined, 'click'],
    ['div', undefined, 'click'],
    ['input', 'button', 'click'],
    ['input', 'submit', 'click'],
    ['input', 'reset', 'click'],
    ['input', 'image', 'click'],
    ['input', 'text', 'change'],
    ['input', 'checkbox', 'change'],
    ['select', 'select-one', 'change'],
    ['textarea', 'textarea', 'change'],
    ['form', undefined, 'submit'],
    ['x-input', 'text', 'click'],
  ])('%s of type %s is tracked on %s only', (name, type, on) => {
    const { fire, tracked } = start();
    const target = marked(name, type);
    for (const other of ['click', 'auxclick', 'change', 'submit', 'focusin'].filter((each) => each !== on))
      fire(other, [target]);
    expect(tracked()).toEqual([]);
    fire(on, [target]);
    expect(tracked()).toEqual([['marked', {}]]);
  });

  it('is tracked with its marks only as the payload', () => {
    const { fire, tracked } = start();
    const dataset = {
      clewEvent: 'signup',
      clewPlan: 'pro',
      clewPlanName: 'Pro',
      clewed: 'no',
      clew: 'no',
      other: 'no',
    };
    fire('click', [element('b'), element('button', dataset, { value: 'secret', textContent: 'secret' })]);
    expect(tracked()).toEqual([['signup', { plan: 'pro', planName: 'Pro' }]]);
  });

  it('may have a mark whose name begins with `clewEvent`', () => {
    const { fire, tracked } = start();
    fire('click', [element('button', { clewEvent: 'signup', clewEventKind: 'pro' })]);
    expect(tracked()).toEqual([['signup', { eventKind: 'pro' }]]);
  });

  it('is tracked if it is the innermost marked element', () => {
    const { fire, tracked } = start();
    fire('click', [element('button', { clewEvent: 'inner' }), element('section', { clewEvent: 'outer' })]);
    fire('click', [element('input', { clewEvent: 'inner' }, { type: 'text' }), element('p', { clewEvent: 'outer' })]);
    expect(tracked()).toEqual([['inner', {}]]);
  });

  it('may have parents that are not elements', () => {
    const { fire, tracked } = start();
    fire('click', [{}, marked('button'), {}]);
    expect(tracked()).toHaveLength(1);
  });

  it('is not tracked if its mark is empty or missing', () => {
    const { fire, tracked } = start();
    fire('click', [element('button', { clewEvent: '' }), element('button', { clewPlan: 'pro' })]);
    expect(tracked()).toEqual([]);
  });

  it('is not tracked if it is the label of a disabled control', () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const { fire, tracked } = start();
    for (const state of ['disabled', 'enabled']) {
      const matches = (selector: string) => selector === `:${state}`;
      const control = element('input', {}, { type: 'checkbox', matches, compareDocumentPosition: () => 8 });
      fire('click', [element('label', { clewEvent: state }, { control })]);
      vi.runAllTimers();
    }
    expect(tracked()).toEqual([['enabled', {}]]);
  });

  it('is not tracked after the plugin has stopped', () => {
    const { fire, stop, tracked } = start();
    stop();
    for (const type of ['click', 'change', 'submit']) fire(type, [marked('button')]);
    expect(tracked()).toEqual([]);
  });
});

describe('a link', () => {
  const OUT = 'https://other.example/a?b=1#c';

  it('to another host is tracked with `outbound` only', () => {
    for (const [options, events] of [
      [undefined, []],
      [{ downloads: true }, []],
      [{ outbound: true }, [['outbound_clicked', { url: OUT }]]],
    ] as const) {
      const { fire, stop, tracked } = start(options);
      fire('click', [element('b'), link(OUT)]);
      fire('click', [link('https://shop.example/club')]);
      expect(tracked()).toEqual(events);
      stop();
    }
  });

  it('is tracked when followed by the middle button, and not by the right one', () => {
    const { fire, tracked } = start({ outbound: true });
    fire('auxclick', [link(OUT)], { button: 1 });
    fire('auxclick', [link(OUT)], { button: 2 });
    expect(tracked()).toHaveLength(1);
  });

  it('without a host in its address is not tracked', () => {
    const { fire, tracked } = start({ outbound: true, downloads: true });
    for (const href of ['mailto:ann@example.com', 'javascript:void 0', '', 'tel:1']) {
      fire('click', [link(href, ['download'])]);
    }
    expect(tracked()).toEqual([]);
  });

  it('is tracked without the user name and the password in its address', () => {
    const { fire, tracked } = start({ outbound: true, downloads: true });
    fire('click', [link('https://user:pw@other.example/a?b=1#c')]);
    fire('click', [link('https://user:pw@shop.example/yarn.pdf')]);
    expect(tracked()).toEqual([
      ['outbound_clicked', { url: OUT }],
      ['file_downloaded', { url: 'https://shop.example/yarn.pdf' }],
    ]);
  });

  it.each(['pdf', 'PDF', 'doc', 'docx', 'csv', 'zip', 'tgz', 'tar.gz', 'mp3', 'mp4', 'wav', '7z', 'exe'])(
    'to a file .%s is tracked as a download',
    (kind) => {
      const { fire, tracked } = start({ downloads: true });
      const url = `https://shop.example/files/yarn.${kind}?v=1`;
      fire('click', [link(url)]);
      expect(tracked()).toEqual([['file_downloaded', { url }]]);
    },
  );

  it.each(['/yarn.html', '/pdf', '/yarn.pdf/more', '/?file=yarn.pdf', '/yarn.mp5'])(
    'to %s is not tracked as a download',
    (path) => {
      const { fire, tracked } = start({ downloads: true });
      fire('click', [link(`https://shop.example${path}`)]);
      expect(tracked()).toEqual([]);
    },
  );

  it('with `download` is tracked as a download whatever its name or host is', () => {
    const { fire, tracked } = start({ downloads: true, outbound: true });
    fire('click', [link(OUT, ['download'])]);
    expect(tracked()).toEqual([['file_downloaded', { url: OUT }]]);
  });

  it('that is marked is tracked as a marked element and as a link', () => {
    const { fire, tracked } = start({ outbound: true });
    fire('click', [link(OUT, [], { clewEvent: 'marked' })]);
    expect(tracked()).toEqual([
      ['marked', {}],
      ['outbound_clicked', { url: OUT }],
    ]);
  });
});
