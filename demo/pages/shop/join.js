// @ts-check
import { clew, field, form, goTo, nextPerson, setMember } from './session.js';

const join = form('join');
const person = nextPerson();
field(join, 'name').value = person.name;
field(join, 'email').value = person.email;
const plan = new URLSearchParams(location.search).get('plan');
if (plan === 'free' || plan === 'pro') field(join, 'plan').value = plan;

join.addEventListener('submit', (event) => {
  event.preventDefault();
  const {
    name = '',
    email = '',
    plan = '',
  } = /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(join)));
  clew('identify', email, { name, plan });
  clew('track', 'signup', { plan });
  person.taken();
  setMember({ name, email, plan });
  // The page unloads in the same task as the calls above, and no event is lost.
  goTo('/shop/account');
});
