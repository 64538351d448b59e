// @ts-check
import { basket, clew, form, goTo, NAMES, priceOf, setBasket, totalOf } from './session.js';

const skus = basket();
const total = totalOf(skus);
clew('track', 'cart_viewed', { items: skus.length, total });

/** @type {HTMLElement} */ (document.getElementById('empty')).hidden = skus.length > 0;
form('basket').hidden = !skus.length;
/** @type {HTMLElement} */ (document.getElementById('total')).textContent = `€${total}`;
for (const sku of new Set(skus)) {
  const count = skus.filter((each) => each === sku).length;
  const item = document.createElement('li');
  const price = document.createElement('span');
  price.textContent = `€${count * priceOf(sku)}`;
  item.append(`${count} × ${NAMES[sku]}`, price);
  document.getElementById('items')?.append(item);
}

form('basket').addEventListener('submit', (event) => {
  event.preventDefault();
  clew('track', 'order_placed', { items: skus.length, total });
  for (const sku of skus) clew('track', 'item_bought', { sku, price: priceOf(sku) });
  setBasket([]);
  goTo('/shop/thanks');
});
