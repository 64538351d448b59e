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

/** The marks of an element. The control of `<input name="dataset">` hides those of its form. */
export const marksOf = (element: HTMLElement): DOMStringMap | undefined =>
  Reflect.get(Object.getPrototypeOf(element), 'dataset', element);

/** Which of its events is meant by an element's mark. */
const typeOf = (element: HTMLElement & { type?: unknown }): string => {
  if (element instanceof HTMLFormElement) return 'submit';
  // Controls that people fill in or choose from. The other controls are buttons.
  const isEntry = /^(input (?!button|submit|reset|image)|select |textarea )/;
  return isEntry.test(`${element.localName} ${element.type}`) ? 'change' : 'click';
};

/** `data-clew-plan-name="pro"` is `planName`. */
export const payloadOf = (marks: DOMStringMap): Record<string, unknown> => {
  const payload: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(marks))
    if (/^clew(?!Event$)[A-Z]/.test(name)) payload[name.charAt(4).toLowerCase() + name.slice(5)] = text;
  return payload;
};

/** A middle click opens a link, as a click does. */
const actOf = (event: Event): string => (event.type === 'auxclick' && followedLink(event)?.href ? 'click' : event.type);

/** The control that the browser clicks next, because the click is on its label. A label clicks none for a link or another control in it. */
const nextControl = (path: HTMLElement[]): HTMLElement | undefined => {
  const clicked = path.find(
    (node) =>
      /^(a|button|details|input|label|select|textarea)$/.test(node.localName) &&
      (node as HTMLAnchorElement).href !== '',
  ) as HTMLLabelElement | undefined;
  const control = clicked?.control;
  return control && !path.includes(control) ? control : undefined;
};

/** Whether the label's control has a mark, or is within the mark, too: then its own event may be tracked in place of the label's. */
const isForControl = (path: HTMLElement[], marked: HTMLElement, control: HTMLElement): boolean =>
  !!marksOf(control)?.clewEvent ||
  // The node that contains both (8) may be around the shadow root of both.
  path.indexOf(marked) >= path.findIndex((node) => control.compareDocumentPosition(node) & 8);

/**
 * Creates a plugin that tracks marked elements. A click on `<button data-clew-event="signup_clicked" data-clew-plan="pro">`
 * tracks `signup_clicked` with `{ plan: 'pro' }`. A form is tracked on submit, and an input, select or textarea on change. If
 * marked elements are nested, clew tracks the innermost one. clew never reads text, or the values that a person types or chooses.
 *
 * @example createTracker({ baseUrl: '/clew', clicks: clicks({ outbound: true }) })
 */
export const clicks =
  ({ outbound, downloads }: ClickOptions = {}): Plugin =>
  // Two parameters, so that the tracker notices a plugin that the app has not called.
  ({ track }, _tools) => {
    // In the capture phase, before a listener of the page can stop the event.
    const listening = Object.assign(new AbortController(), { capture: true });
    const listen = (target: EventTarget, ...types: string[]) => {
      for (const type of types) target.addEventListener(type, receive, listening);
    };

    /** While the browser clicks the control of a label: the control, and the label's event if that has not been tracked. */
    let followed: readonly [control: HTMLElement, rest?: (() => void) | undefined] | undefined;
    const endFollowing = () => {
      followed?.[1]?.();
      followed = undefined;
    };
    const follow = (control: HTMLElement, rest?: () => void) => {
      endFollowing();
      followed = [control, rest];
      // The page may have prevented that, or the control has nothing to track.
      setTimeout(endFollowing);
    };

    const receiveMark = (marked: HTMLElement, path: HTMLElement[]): void => {
      const marks = { ...marksOf(marked) };
      const take = () => track(marks.clewEvent as string, payloadOf(marks));
      const control = nextControl(path);
      const [clicked, rest] = followed ?? [];
      if (clicked && path.includes(clicked)) {
        // The label's event is tracked already.
        if (!rest && marked !== clicked) return;
        followed = [clicked];
        take();
        return;
      }
      endFollowing();
      if (!control) take();
      else if (control.matches(':disabled')) return;
      else if (isForControl(path, marked, control)) follow(control, take);
      else {
        take();
        follow(control);
      }
    };

    const receive = (event: Event): void => {
      // Whatever of an element is asked for may be missing.
      const path = event.composedPath() as HTMLElement[];
      // The event leaves the shadow root, and the window's listener receives it, too. `composed` is false for Chromium's submit.
      if (event.currentTarget !== window && path.includes(window as never)) return;
      // Changes and submits stay in their shadow root. Focus and clicks leave it, and come before.
      for (const node of path) if (node instanceof ShadowRoot) listen(node, 'change', 'submit');

      const marked = path.find((node) => marksOf(node)?.clewEvent);
      if (marked && actOf(event) === typeOf(marked)) receiveMark(marked, path);

      const link = followedLink(event);
      if (!link?.href) return;
      // An SVG link has an object as address, without the address's parts.
      const parsed = document.createElement('a');
      parsed.href = (link.href as unknown as SVGAnimatedString).baseVal ?? link.href;
      // The page may have been opened with a password, which its own links then have.
      parsed.username = parsed.password = '';
      const { href: url } = parsed;
      // Without a host it makes its file, or leads nowhere.
      if (!parsed.host) return;
      if (downloads && (link.hasAttribute('download') || FILE.test(parsed.pathname))) track('file_downloaded', { url });
      else if (outbound && parsed.host !== location.host) track('outbound_clicked', { url });
    };

    listen(window, 'click', 'auxclick', 'change', 'submit', 'focusin');
    return () => listening.abort();
  };
