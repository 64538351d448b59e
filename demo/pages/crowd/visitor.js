// @ts-check

/**
 * A visitor of the crowd, who follows links, clicks, and sometimes joins the club. The visitor reports to the page that has its
 * frame, and only that page can stop it.
 */

const clew = (/** @type {unknown[]} */ ...call) => /** @type {any} */ (window).clew(...call);

/** About how long (ms) the visitor looks at a page. */
const LOOK = 1400;
let isStopped = false;

/** @param {object} news */
const tell = (news) => parent.postMessage(news, '*');

/** @template T @param {T[]} all @returns {T | undefined} */
const oneOf = (all) => all[Math.floor(Math.random() * all.length)];

/** @param {string} selector @returns {HTMLElement[]} its visible elements */
const seen = (selector) =>
  /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)]).filter((element) =>
    element.checkVisibility(),
  );

const NAMES = ['Daphne', 'Icarus', 'Phaedra', 'Dion', 'Helle', 'Orpheus', 'Thalia', 'Nestor', 'Kalypso', 'Linos'];

/** Fills in the form for joining or for logging in. @param {HTMLFormElement} form */
const fillIn = (form) => {
  const [label = ''] = location.hostname.split('.');
  const name = NAMES[(Number(label.match(/\d+/)) - 1) % NAMES.length] ?? '';
  const set = (/** @type {string} */ field, /** @type {string} */ value) => {
    const input = /** @type {HTMLInputElement | null} */ (form.elements.namedItem(field));
    if (input) input.value = value;
  };
  set('name', name);
  set('email', `${name.toLowerCase()}.${label}@example.com`);
  set('plan', Math.random() < 0.5 ? 'free' : 'pro');
};

/** Does one thing that a visitor may do here. */
const act = () => {
  const submit = /** @type {HTMLButtonElement | undefined} */ (seen('#join [type=submit], #basket [type=submit]')[0]);
  if (submit?.form && Math.random() < 0.6) {
    fillIn(submit.form);
    submit.click();
    return;
  }
  const marked = seen('[data-clew-event]:not(#log-out)');
  const links = seen('a[href^="/shop/"]:not([href*=privacy])');
  oneOf(marked.length && Math.random() < 0.6 ? marked : links)?.click();
};

const walk = () => {
  if (isStopped) return;
  act();
  setTimeout(walk, LOOK * (0.4 + Math.random()));
};

const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

const stop = async () => {
  isStopped = true;
  // The last click may have opened another page. The view of a page is tracked only after its address has stood for a moment.
  await pause(LOOK);
  await clew('flush');
  while (clew('stats').queued) {
    await pause(LOOK);
    await clew('flush');
  }
  tell({ isDone: true });
};

/** Reports that the page is ready only after the listener is added, because the answer may stop the visitor. */
export const begin = async () => {
  addEventListener('message', ({ data, source }) => source === parent && data === 'stop' && stop());
  tell({ isReady: true });
  while (!clew('stats')) await pause(50);
  setTimeout(walk, LOOK * Math.random());
};
