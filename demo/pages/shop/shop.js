// @ts-check
import { basket, member, setBasket } from './session.js';

/** What all pages of the shop do. For its tracking each does no more than call `clew`, or mark what is to be tracked. */

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

// As one would have it in development: `?clew-inspect` opens the inspector over the page.
if (new URLSearchParams(location.search).has('clew-inspect')) {
  const inspector = '/dist/inspector.js';
  import(inspector).then(({ inspectOnRequest }) => inspectOnRequest(/** @type {any} */ (window).clew));
  // It goes along to the next page.
  for (const link of document.querySelectorAll('a[href^="/shop/"]')) {
    const url = new URL(/** @type {HTMLAnchorElement} */ (link).href);
    url.searchParams.set('clew-inspect', '');
    /** @type {HTMLAnchorElement} */ (link).href = url.href;
  }
}

// One of the crowd: each has a name of its own for this machine.
if (/^v\d+-\w+\.clew\.localhost$/.test(location.hostname)) import('../crowd/visitor.js').then(({ begin }) => begin());
