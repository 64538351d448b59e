import { html, type TemplateResult } from 'lit';
import { PARTS, type Part, type Ui } from './ui.js';

export const LABELS: Record<Part, string> = { events: 'Events', requests: 'Requests', state: 'State' };
const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };

/**
 * The tabs of a narrow inspector, with the keys that tabs have: https://www.w3.org/WAI/ARIA/apg/patterns/tabs/
 *
 * @param aside a part in the same line
 */
export const tabsView = (ui: Ui, aside: TemplateResult): TemplateResult => {
  const choose = (part: Part) => {
    ui.part = part;
    ui.changed();
  };
  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    const next = step && PARTS[(PARTS.indexOf(ui.part) + step + PARTS.length) % PARTS.length];
    if (!next) return;
    event.preventDefault();
    choose(next);
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return html`<div class="tabs">
    <div role="tablist" aria-label="Parts of the inspector" @keydown=${move}>
    ${PARTS.map((part) => {
      const isChosen = part === ui.part;
      return html`<button
        type="button"
        role="tab"
        id="tab-${part}"
        aria-selected=${isChosen}
        aria-controls="panel"
        tabindex=${isChosen ? 0 : -1}
        @click=${() => choose(part)}
      >
        ${LABELS[part]}
      </button>`;
    })}
    </div>
    ${aside}
  </div>`;
};
