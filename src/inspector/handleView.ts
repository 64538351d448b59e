import { html, type TemplateResult } from 'lit';
import type { Ui } from './ui.js';

/** Px: lower than that, nothing is to be seen. */
const LEAST = 160;
/** Px for each press of an arrow key. */
const STEP = 32;

/** The upper edge of an inspector that is docked: dragged, or moved by the arrow keys, it changes its height. */
export const handleView = (element: HTMLElement, ui: Ui): TemplateResult => {
  const most = () => element.ownerDocument.documentElement.clientHeight;
  const height = Math.round(element.getBoundingClientRect().height);
  const resize = (to: number) => {
    // By the CSSOM, which no Content-Security-Policy forbids.
    element.style.blockSize = `${Math.min(Math.max(to, LEAST), most())}px`;
    ui.changed();
  };
  const keys: Record<string, number> = {
    ArrowUp: height + STEP,
    ArrowDown: height - STEP,
    Home: LEAST,
    End: most(),
  };
  const press = (event: KeyboardEvent) => {
    const to = keys[event.key];
    if (to === undefined) return;
    event.preventDefault();
    resize(to);
  };
  const grab = ({ currentTarget, pointerId }: PointerEvent) =>
    (currentTarget as HTMLElement).setPointerCapture(pointerId);
  const drag = ({ currentTarget, pointerId, clientY }: PointerEvent) => {
    if ((currentTarget as HTMLElement).hasPointerCapture(pointerId)) resize(most() - clientY);
  };
  return html`<div
    class="handle"
    role="separator"
    aria-orientation="horizontal"
    aria-label="Height of the inspector"
    aria-valuemin=${LEAST}
    aria-valuemax=${most()}
    aria-valuenow=${height}
    tabindex="0"
    @keydown=${press}
    @pointerdown=${grab}
    @pointermove=${drag}
  ></div>`;
};
