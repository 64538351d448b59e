// @ts-check
import { svg } from 'lit-html';

/**
 * @typedef {{ sku: string, name: string, price: number, tone: string, about: string }} Product
 * @type {Product[]}
 */
export const PRODUCTS = [
  {
    sku: 'merino',
    name: 'Knossos Merino',
    price: 14,
    tone: 'madder',
    about: 'Knossos Merino: soft, four ply, dyed with madder root. 240 m to the ball.',
  },
  {
    sku: 'cotton',
    name: 'Naxos Cotton',
    price: 9,
    tone: 'sea',
    about: 'Naxos Cotton: cool and smooth, for summer. 180 m to the ball.',
  },
  {
    sku: 'mohair',
    name: 'Minotaur Mohair',
    price: 21,
    tone: 'ochre',
    about: 'Minotaur Mohair: wild, warm and a little hairy. 420 m, enough for a labyrinth.',
  },
];

/** A ball of it. @param {Product} product */
export const picture = ({ tone }) => svg`
  <svg class="ball ${tone}" viewBox="0 0 64 64" fill="none" stroke-linecap="round" aria-hidden="true">
    <circle cx="32" cy="30" r="22" fill="currentColor" />
    <g stroke="#fff" stroke-opacity=".6" stroke-width="2">
      <path d="M15 20c10-2 22 2 33 15" /><path d="M12 28c10-2 21 3 30 18" /><path d="M12 37c8-1 15 3 20 13" />
      <path d="M23 12c10 0 20 5 28 14" /><path d="M51 20c-6 2-11 6-15 11" /><path d="M46 13c-7 2-12 5-17 10" />
    </g>
    <path d="M36 52c6 4 12 5 20 4" stroke="currentColor" stroke-width="3" />
  </svg>
`;
