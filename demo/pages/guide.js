// @ts-check
import { html, render } from 'lit-html';
import { cell, drawWhenChanged } from './cell.js';
import { byId } from './dom.js';
import { isPlaying, outage } from './outage.js';
import { listen } from './site.js';

/** Suggests one step after the other, until all are done. Any order counts. */

const STEPS = /** @type {const} */ ({
  break: 'Press the button above. The service fails, and no event is lost.',
  click: 'Click anything in the shop, and follow the event here.',
  join: 'Join the club. Your earlier events then belong to a named customer.',
  fault: 'Choose 500 under “Service faults”, then click again.',
  leave: 'Press “Track 10 and leave”. All ten arrive.',
  crowd: 'Start more visitors, or open another tab of the shop.',
});

/** @typedef {keyof typeof STEPS} Step */

const done = cell(/** @type {ReadonlySet<Step>} */ (new Set()));

/** @param {Step} step */
export const finish = (step) => done.get().has(step) || done.set(new Set([...done.get(), step]));

/** @param {import('./site.js').Trace} trace */
const receive = (trace) => {
  if (trace.step === 'tracked' && trace.event.event !== 'page_view') finish('click');
  if (trace.step === 'tracked' && trace.event.event === 'signup') finish('join');
  if (trace.step === 'answered' && trace.outcome === 'failed') finish('fault');
};

export const showGuide = () => {
  listen(receive);
  outage.watch(() => outage.get() && finish('break'));
  drawWhenChanged([done, outage], () => {
    // The outage has a text of its own.
    byId('guide').hidden = isPlaying();
    const steps = /** @type {Step[]} */ (Object.keys(STEPS));
    const next = steps.find((step) => !done.get().has(step));
    render(
      next ? html`<b>${done.get().size ? 'Next' : 'First'}:</b> ${STEPS[next]}` : html`All steps are done.`,
      byId('guide'),
    );
  });
};
