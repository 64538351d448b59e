// @ts-check

/**
 * One of the crowd: looks around in the shop, clicks, and sometimes joins. The page that holds its frame is told what its
 * tracker says, and is the only one that may stop it.
 */

const clew = (/** @type {unknown[]} */ ...call) => /** @type {any} */ (window).clew(...call);

/** A page is looked at for so long (ms), more or less. */
const LOOK = 1400;
let isStopped = false;

/** @param {object} news */
const tell = (news) => parent.postMessage(news, '*');

/** @template T @param {T[]} all @returns {T | undefined} */
const oneOf = (all) => all[Math.floor(Math.random() * all.length)];

/** @param {string} selector @returns {HTMLElement[]} what can be seen of it */
const seen = (selector) =>
  /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)]).filter((element) =>
    element.checkVisibility(),
  );

const NAMES = ['Daphne', 'Icarus', 'Phaedra', 'Dion', 'Helle', 'Orpheus', 'Thalia', 'Nestor', 'Kalypso', 'Linos'];

/** The form for joining, or the one for logging in. @param {HTMLFormElement} form */
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
  // The last click may have led elsewhere, and the view of a page is tracked once its address stands.
  await pause(LOOK);
  await clew('flush');
  while (clew('stats').queued) {
    await pause(LOOK);
    await clew('flush');
  }
  tell({ isDone: true });
};

/** Says that the page is here, when there is somebody to stop. */
export const begin = async () => {
  addEventListener('message', ({ data, source }) => source === parent && data === 'stop' && stop());
  tell({ isReady: true });
  while (!clew('stats')) await pause(50);
  tell({ thread: await clew('correlationValue') });
  setTimeout(walk, LOOK * Math.random());
};
