// @ts-check
import { html, render } from 'lit-html';
import { cell, drawWhenChanged } from './cell.js';
import { byId } from './dom.js';
import { listen } from './site.js';

/** One thing to try after the other, until all are done; they may be done in any order. */

const STEPS = /** @type {const} */ ({
  click: 'Click anything in the shop, and follow it along this thread.',
  join: 'Join the club: what you have done so far becomes yours.',
  trouble: 'Press 500 among the troubles of the service, then click again.',
  leave: 'Press “Leave at once”: even that loses nothing.',
  crowd: 'Send in a crowd, or open another tab of the shop.',
});

/** @typedef {keyof typeof STEPS} Step */

const done = cell(/** @type {ReadonlySet<Step>} */ (new Set()));

/** @param {Step} step */
export const finish = (step) => done.get().has(step) || done.set(new Set([...done.get(), step]));

/** @param {import('./site.js').Trace} trace */
const hear = (trace) => {
  if (trace.step === 'tracked' && trace.event.event !== 'page_view') finish('click');
  if (trace.step === 'tracked' && trace.event.event === 'signup') finish('join');
  if (trace.step === 'answered' && trace.outcome === 'failed') finish('trouble');
};

export const showGuide = () => {
  listen(hear);
  drawWhenChanged([done], () => {
    const steps = /** @type {Step[]} */ (Object.keys(STEPS));
    const next = steps.find((step) => !done.get().has(step));
    render(
      next
        ? html`<b>${done.get().size ? 'Next' : 'First'}:</b> ${STEPS[next]}`
        : html`You have seen it all. It is yours to break.`,
      byId('guide'),
    );
  });
};
