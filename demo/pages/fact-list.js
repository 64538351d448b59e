// @ts-check
import { html } from 'lit-html';

/** @param {[name: string, value: string][]} facts */
export const factList = (facts) =>
  html`<span class="facts">${facts.map(([name, value]) => html`<span>${name} <b>${value}</b></span> `)}</span>`;
