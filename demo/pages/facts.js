// @ts-check
import { html } from 'lit-html';

/** The values of a payload, with their names, or only the path of a page view to save room. @param {unknown} payload */
export const facts = (payload) => {
  const all = Object.entries(Object(payload));
  const shown = Object(payload).path ? all.filter(([name]) => name === 'path') : all;
  return html`<span class="facts">${shown.map(
    ([name, value]) =>
      html`<span>${name} <b>${typeof value === 'object' ? JSON.stringify(value) : String(value)}</b></span> `,
  )}</span>`;
};
