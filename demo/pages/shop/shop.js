// @ts-check
import { addressOf, basket, isInspected, member, setBasket } from './session.js';

/** The script of all pages of the shop. To track events, a page only calls `clew` or marks elements. */

const showState = () => {
  const state = member() ? 'member' : 'visitor';
  for (const element of document.querySelectorAll('[data-when]')) {
    /** @type {HTMLElement} */ (element).hidden = /** @type {HTMLElement} */ (element).dataset.when !== state;
  }
  const size = /** @type {HTMLElement} */ (document.getElementById('basket-size'));
  size.textContent = String(basket().length);
  size.hidden = !basket().length;
};

for (const link of document.querySelectorAll('nav a')) {
  if (/** @type {HTMLAnchorElement} */ (link).pathname === location.pathname) link.setAttribute('aria-current', 'page');
}

for (const button of document.querySelectorAll('[data-add]')) {
  const sku = /** @type {import('./session.js').Sku} */ (/** @type {HTMLElement} */ (button).dataset.add);
  button.addEventListener('click', () => {
    setBasket([...basket(), sku]);
    showState();
    button.textContent = 'Added';
    setTimeout(() => {
      button.textContent = 'Add to basket';
    }, 1000);
  });
}

showState();
// Another tab of the same browser has logged in, or filled the basket.
addEventListener('storage', showState);

if (isInspected) {
  const inspector = '/dist/inspector.js';
  import(inspector).then(({ inspectOnRequest }) => inspectOnRequest(/** @type {any} */ (window).clew));
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll('a[href^="/shop/"]')))
    link.href = addressOf(link.href);
}

// Each visitor of the crowd has its own host name for this machine.
if (/^v\d+-\w+\.clew\.localhost$/.test(location.hostname)) import('../crowd/visitor.js').then(({ begin }) => begin());
