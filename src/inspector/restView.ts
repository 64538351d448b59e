import { html, nothing, type TemplateResult } from 'lit';
import { heightOf } from './ui.js';

/** Room for rows that are not drawn, because they are not in sight. */
export const restView = (rows: number, part: 'events' | 'requests'): TemplateResult | typeof nothing =>
  rows > 0 ? html`<div class="rest" data-height=${heightOf(rows, part)}></div>` : nothing;

/** Gives it its height. By the CSSOM, which no Content-Security-Policy forbids. */
export const sizeRests = (root: ParentNode): void => {
  for (const rest of root.querySelectorAll<HTMLElement>('.rest')) rest.style.blockSize = `${rest.dataset.height}px`;
};
