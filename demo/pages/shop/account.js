// @ts-check
import { clew, field, form, member, setMember } from './session.js';

const settings = form('settings');
const someone = member();
/** @type {HTMLElement} */ (document.getElementById('member')).textContent = someone?.name.split(' ')[0] ?? '';
field(settings, 'plan').value = someone?.plan ?? 'free';

settings.addEventListener('change', () => {
  const plan = field(settings, 'plan').value;
  const newsletter = field(settings, 'newsletter').checked;
  clew('setProperties', { plan, newsletter });
  if (someone) setMember({ ...someone, plan });
  /** @type {HTMLElement} */ (document.getElementById('saved')).textContent = 'Saved.';
});

document.getElementById('log-out')?.addEventListener('click', () => {
  clew('reset');
  setMember(null);
  location.assign('/shop/');
});

form('log-in').addEventListener('submit', (event) => {
  event.preventDefault();
  const email = field(form('log-in'), 'email').value;
  clew('identify', email);
  clew('track', 'logged_in');
  setMember({ name: email.split('@')[0] ?? email, email, plan: 'free' });
  location.reload();
});
