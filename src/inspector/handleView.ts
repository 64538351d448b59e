import { html, type TemplateResult } from 'lit';
import type { Ui } from './ui.js';

/** Px: lower than that, nothing is to be seen. */
const LEAST = 160;
/** Px for each press of an arrow key. */
const STEP = 32;

/** The greatest height, in px. In quirks mode, the root element's `clientHeight` is the height of the whole page. */
export const mostHeight = (): number => window.innerHeight;

/**
 * The upper edge of an inspector that is docked: dragged, or moved by the arrow keys, it changes its height. Drawing measures
 * nothing, which would make the browser lay out the page at once.
 */
export const handleView = (element: HTMLElement, ui: Ui): TemplateResult => {
  const resize = (to: number) => {
    // By the CSSOM, which no Content-Security-Policy forbids.
    element.style.blockSize = `${Math.min(Math.max(to, LEAST), mostHeight())}px`;
    ui.changed();
  };
  const height = () => Math.round(element.getBoundingClientRect().height);
  const keys: Record<string, () => number> = {
    ArrowUp: () => height() + STEP,
    ArrowDown: () => height() - STEP,
    Home: () => LEAST,
    End: mostHeight,
  };
  const press = (event: KeyboardEvent) => {
    const to = keys[event.key];
    if (!to) return;
    event.preventDefault();
    resize(to());
  };
  const grab = ({ currentTarget, pointerId }: PointerEvent) =>
    (currentTarget as HTMLElement).setPointerCapture(pointerId);
  const drag = ({ currentTarget, pointerId, clientY }: PointerEvent) => {
    if ((currentTarget as HTMLElement).hasPointerCapture(pointerId))
      resize(element.getBoundingClientRect().bottom - clientY);
  };
  return html`<div
    class="handle"
    role="separator"
    aria-orientation="horizontal"
    aria-label="Height of the inspector"
    aria-valuemin=${LEAST}
    aria-valuemax=${ui.mostHeight}
    aria-valuenow=${ui.height}
    tabindex="0"
    @keydown=${press}
    @pointerdown=${grab}
    @pointermove=${drag}
  ></div>`;
};
