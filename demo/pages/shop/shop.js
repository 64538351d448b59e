// @ts-check
import { basket, member, setBasket } from './session.js';

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

// As during development, `?clew-inspect` opens the inspector over the page.
if (new URLSearchParams(location.search).has('clew-inspect')) {
  const inspector = '/dist/inspector.js';
  import(inspector).then(({ inspectOnRequest }) => inspectOnRequest(/** @type {any} */ (window).clew));
  // The next page opens the inspector, too.
  for (const link of document.querySelectorAll('a[href^="/shop/"]')) {
    const url = new URL(/** @type {HTMLAnchorElement} */ (link).href);
    url.searchParams.set('clew-inspect', '');
    /** @type {HTMLAnchorElement} */ (link).href = url.href;
  }
}

// Each visitor of the crowd has its own host name for this machine.
if (/^v\d+-\w+\.clew\.localhost$/.test(location.hostname)) import('../crowd/visitor.js').then(({ begin }) => begin());
