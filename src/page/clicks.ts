import type { Plugin } from '../api/types.js';
import { followedLink } from './followedLink.js';

/** Options of `clicks`. */
export interface ClickOptions {
  /**
   * Tracks `outbound_clicked` with the `url` of a link to another host.
   *
   * @default false
   */
  outbound?: boolean | undefined;
  /**
   * Tracks `file_downloaded` with the `url` of a link that has `download` or leads to a well-known file type.
   *
   * @default false
   */
  downloads?: boolean | undefined;
}

const FILE = /\.(pdf|docx?|xlsx?|pptx?|csv|txt|zip|rar|7z|t?gz|dmg|pkg|exe|msi|apk|mp[34]|mov|avi|wav)$/i;

/** Which of its events is meant by an element's mark. */
const typeOf = ({ localName, type }: HTMLElement & { type?: unknown }): string => {
  if (localName === 'form') return 'submit';
  // What people fill in or choose, and not what they press.
  return /^(input (?!button|submit|reset|image)|select |textarea )/.test(`${localName} ${type}`) ? 'change' : 'click';
};

/** `data-clew-plan-name="pro"` is `planName`. */
const payloadOf = ({ dataset }: HTMLElement): Record<string, unknown> => {
  const payload: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(dataset))
    if (/^clew(?!Event$)[A-Z]/.test(name)) payload[name.charAt(4).toLowerCase() + name.slice(5)] = text;
  return payload;
};

/**
 * Creates a plugin that tracks marked elements. A click on `<button data-clew-event="signup_clicked" data-clew-plan="pro">`
 * tracks `signup_clicked` with `{ plan: 'pro' }`. A form is tracked on submit, and an input, select or textarea on change. If
 * marked elements are nested, clew tracks the innermost one. clew never reads text, or the values that a person types or chooses.
 *
 * @example createTracker({ baseUrl: '/clew', clicks: clicks({ outbound: true }) })
 */
export const clicks =
  ({ outbound, downloads }: ClickOptions = {}): Plugin =>
  ({ track }) => {
    // Before anybody in the page can stop the event.
    const listening = Object.assign(new AbortController(), { capture: true });
    const listen = (target: EventTarget, ...types: string[]) => {
      for (const type of types) target.addEventListener(type, receive, listening);
    };

    const receive = (event: Event): void => {
      // Whatever of an element is asked for may be missing.
      const path = event.composedPath() as HTMLElement[];
      // It leaves the shadow root; `composed` is false for Chromium's submit.
      if (event.currentTarget !== window && event.composedPath().includes(window)) return;
      // Changes and submits do not. The focus and clicks do, and come before.
      for (const node of path) if (node instanceof ShadowRoot) listen(node, 'change', 'submit');

      const marked = path.find(({ dataset }) => dataset?.clewEvent);
      /** The browser clicks a label's control next, and within the mark the two are one click. */
      const isRepeated = (node: HTMLElement) =>
        node instanceof HTMLLabelElement &&
        node.control &&
        !path.includes(node.control) &&
        marked?.contains(node.control);
      if (marked && event.type === typeOf(marked) && !path.some(isRepeated))
        track(`${marked.dataset.clewEvent}`, payloadOf(marked));

      const link = followedLink(event);
      // Without a host it makes its file, or leads nowhere.
      if (!link?.host) return;
      const { href: url } = link;
      if (downloads && (link.hasAttribute('download') || FILE.test(link.pathname))) track('file_downloaded', { url });
      else if (outbound && link.host !== location.host) track('outbound_clicked', { url });
    };

    listen(window, 'click', 'auxclick', 'change', 'submit', 'focusin');
    return () => listening.abort();
  };
