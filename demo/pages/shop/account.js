// @ts-check
import { clew, field, form, goTo, member, setMember } from './session.js';

const settings = form('settings');
const someone = member();
/** @type {HTMLElement} */ (document.getElementById('member')).textContent = someone?.name.split(' ')[0] ?? '';
field(settings, 'plan').value = someone?.plan ?? 'free';
field(settings, 'newsletter').checked = someone?.newsletter ?? false;

settings.addEventListener('change', ({ target }) => {
  const { name, type, value, checked } = /** @type {HTMLInputElement} */ (target);
  // Only this one, because the member may have changed the others in another browser.
  const change = { [name]: type === 'checkbox' ? checked : value };
  clew('setProperties', change);
  const current = member();
  if (current) setMember({ ...current, ...change });
  /** @type {HTMLElement} */ (document.getElementById('saved')).textContent = 'Saved.';
});

document.getElementById('log-out')?.addEventListener('click', () => {
  clew('reset');
  setMember(null);
  goTo('/shop/');
});

form('log-in').addEventListener('submit', (event) => {
  event.preventDefault();
  const email = field(form('log-in'), 'email').value;
  clew('identify', email);
  clew('track', 'logged_in');
  setMember({ name: email.split('@')[0] ?? email, email, plan: 'free' });
  location.reload();
});
