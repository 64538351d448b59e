// @ts-check
import { ask } from './ask.js';
import { drawWhenChanged } from './cell.js';
import { attempt, byId, formById, inputById, onClick, onSubmit } from './dom.js';
import { arrived } from './service.js';

/** The attribute that the field showed last. A refresh with the same attribute must not overwrite a text that is being typed. */
let shown = '';

/** @param {string | null} attribute */
const choose = (attribute) => ask('PUT', 'primary-key', { attribute });

export const showSettings = () => {
  onSubmit('primary-key-form', ({ attribute = '' }) => choose(attribute));
  onClick('no-attribute', () => attempt(formById('primary-key-form'), () => choose(null)));
  onClick('clear', () => attempt(byId('clearing'), () => ask('DELETE', 'data')));
  drawWhenChanged([arrived], () => {
    const state = arrived.get();
    if (!state) return;
    const { attribute } = state;
    byId('attribute-state').textContent = attribute
      ? ''
      : 'Until one is chosen, the service refuses customer properties.';
    if ((attribute ?? '') === shown) return;
    shown = attribute ?? '';
    inputById('attribute').value = shown;
  });
};
