// @ts-check
import { html, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { stored } from './browser.js';
import { cell, drawWhenChanged } from './cell.js';
import { byId, counted, formById, onSubmit } from './dom.js';
import { leaveWith } from './leave.js';
import { PRODUCTS, picture } from './products.js';
import { primaryKeyIn } from './stored.js';
import { call } from './tracker.js';

/** The shop: a site like any other, which does no more for its tracking than call `clew`. */

/** @typedef {import('./products.js').Product} Product */

/** @type {import('./cell.js').Cell<Product[]>} */
const cart = cell(/** @type {Product[]} */ ([]));
/** @type {import('./cell.js').Cell<Product | undefined>} */
const viewed = cell(/** @type {Product | undefined} */ (undefined));

/** Who signs up next, so that trying it takes one click. */
const PEOPLE = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Mary Shelley', 'Emmy Noether'];

/** @param {Product} product */
const view = (product) => {
  viewed.set(product);
  call('track', 'product_viewed', { sku: product.sku, price: product.price });
};

/** @param {Product} product */
const add = (product) => {
  cart.set([...cart.get(), product]);
  call('track', 'cart_added', { sku: product.sku, price: product.price });
};

const total = () => cart.get().reduce((sum, { price }) => sum + price, 0);

const checkOut = () =>
  leaveWith([
    ['order_placed', { items: cart.get().length, total: total() }],
    ...cart.get().map(({ sku, price }) => ['item_bought', { sku, price }]),
  ]);

/** @param {Product} product */
const productCard = (product) => html`
  <li>
    <button class="look" @click=${() => view(product)}>
      ${picture(product)}
      <b>${product.name}</b>
      <span>€${product.price}</span>
    </button>
    <button aria-label="Add ${product.name} to the cart" @click=${() => add(product)}>Add to cart</button>
  </li>
`;

const cartContent = () => {
  const items = cart.get();
  if (!items.length) return html`<p>Nothing in it yet.</p>`;
  return html`
    <ul>
      ${repeat(
        PRODUCTS.filter((product) => items.includes(product)),
        ({ sku }) => sku,
        (product) => html`<li>${items.filter((item) => item === product).length} × ${product.name}</li>`,
      )}
    </ul>
    <button class="primary" @click=${checkOut}>Pay €${total()} and leave</button>
  `;
};

/** The customer whom this browser's thread is tied to, as the SDK remembers it. */
export const customer = () => primaryKeyIn(stored.get());

const logOut = () => {
  call('reset');
  cart.set([]);
  suggestPerson();
};

const account = () => {
  const name = customer();
  return name ? html`<b>${name}</b> <button class="link" @click=${logOut}>Log out</button>` : 'Not signed in';
};

let next = 0;
const suggestPerson = () => {
  const name = /** @type {string} */ (PEOPLE[next++ % PEOPLE.length]);
  const form = formById('sign-up');
  for (const [field, value] of [
    ['name', name],
    ['email', `${name.split(' ')[0]?.toLowerCase()}@example.com`],
  ]) {
    /** @type {HTMLInputElement} */ (form.elements.namedItem(/** @type {string} */ (field))).value = value ?? '';
  }
};

export const openShop = () => {
  suggestPerson();
  onSubmit('sign-up', ({ name, email, plan }) => {
    call('identify', email, { name, plan });
    call('track', 'signup', { plan });
    byId('about').textContent = `Welcome, ${name}. You are on the ${plan === 'pro' ? 'Pro' : 'Free'} plan.`;
  });
  byId('cart').addEventListener('toggle', () => {
    const isOpen = /** @type {HTMLDetailsElement} */ (byId('cart')).open;
    if (isOpen) call('track', 'cart_viewed', { items: cart.get().length, total: total() });
  });
  render(html`${PRODUCTS.map(productCard)}`, byId('products'));
  drawWhenChanged([viewed], () => {
    byId('about').textContent = viewed.get()?.about ?? 'Pick a yarn to see what it is made of.';
  });
  drawWhenChanged([cart], () => {
    const { length } = cart.get();
    byId('cart-size').textContent = length ? `${counted(length, 'ball')}, €${total()}` : 'empty';
    render(cartContent(), byId('cart-content'));
  });
  drawWhenChanged([stored], () => render(account(), byId('account')));
};
