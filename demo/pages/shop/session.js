// @ts-check

/**
 * The shop's data about its visitor: the member who is logged in, and the basket. If the browser refuses storage, the shop
 * works without these data.
 *
 * @typedef {{ name: string, email: string, plan: string, newsletter?: boolean }} Member
 */

const PRICES = { merino: 14, cotton: 9, mohair: 21 };
export const NAMES = { merino: 'Knossos Merino', cotton: 'Naxos Cotton', mohair: 'Minotaur Mohair' };

/** @typedef {keyof typeof PRICES} Sku */

/** @param {string} name @returns {any} */
const recall = (name) => {
  try {
    return JSON.parse(localStorage.getItem(`ariadne.${name}`) ?? 'null');
  } catch {
    return null;
  }
};

/** @param {string} name @param {unknown} value */
const remember = (name, value) => {
  try {
    localStorage.setItem(`ariadne.${name}`, JSON.stringify(value));
  } catch {}
};

/** @returns {Member | null} */
export const member = () => recall('member');
/** @param {Member | null} member */
export const setMember = (member) => remember('member', member);

/** Without wares that the shop no longer has. @returns {Sku[]} */
export const basket = () => [recall('basket') ?? []].flat().filter((sku) => Object.hasOwn(PRICES, sku));
/** @param {Sku[]} skus */
export const setBasket = (skus) => remember('basket', skus);

/** @param {Sku} sku */
export const priceOf = (sku) => PRICES[sku];
/** @param {Sku[]} skus */
export const totalOf = (skus) => skus.reduce((sum, sku) => sum + priceOf(sku), 0);

/** Calls the bundle, or the stub until the bundle is loaded. @param {string} method @param {...unknown} args */
export const clew = (method, ...args) => /** @type {any} */ (window).clew(method, ...args);

/** Names for the next members, so that a sign-up takes one click. */
const PEOPLE = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Mary Shelley', 'Emmy Noether'];

export const nextPerson = () => {
  const count = Number(recall('people')) || 0;
  const name = /** @type {string} */ (PEOPLE[count % PEOPLE.length]);
  const first = name.split(' ')[0]?.toLowerCase();
  return {
    name,
    email: `${first}${count < PEOPLE.length ? '' : count}@example.com`,
    taken: () => remember('people', count + 1),
  };
};

/** `?clew-inspect` opens the inspector over this page and over later ones, as during development. */
export const isInspected = new URLSearchParams(location.search).has('clew-inspect');

/** @param {string} address */
export const addressOf = (address) => {
  const url = new URL(address, location.href);
  if (isInspected) url.searchParams.set('clew-inspect', '');
  return url.href;
};

/** @param {string} address */
export const goTo = (address) => location.assign(addressOf(address));

/** @param {string} id @returns {HTMLFormElement} */
export const form = (id) => /** @type {HTMLFormElement} */ (document.getElementById(id));

/** @param {HTMLFormElement} form @param {string} name */
export const field = (form, name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));
