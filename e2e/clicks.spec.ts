import type { Demo } from './support/demo.ts';
import { expect, test, type Visitor } from './support/test.ts';

/** Opens a page with this markup in it, and with `data-clicks` on the tag. */
const arrive = async (visitor: Visitor, demo: Demo, markup: string, clicks = '') => {
  await visitor.page.goto(`${demo.address}/blank`);
  await visitor.page.setContent(markup);
  await visitor.load({ clicks });
};

/** Names and payloads of all events in order. A last event, which arrives after them, is left out. */
const tracked = async (demo: Demo, visitor: Visitor): Promise<unknown[]> => {
  await visitor.clew('track', 'last');
  await expect.poll(() => demo.events('last')).toHaveLength(1);
  return (await demo.events()).slice(0, -1).map(({ event, payload }) => [event, payload]);
};

const BUTTON = `<button data-clew-event="signup_clicked" data-clew-plan="pro" data-clew-plan-name="Pro" data-other="no">
  <b>Sign <i>up</i></b></button>`;
const SIGNUP = ['signup_clicked', { plan: 'pro', planName: 'Pro' }];

test('a click on a marked element or on its content is tracked with its payload', async ({ demo, visitor }) => {
  await arrive(visitor, demo, `${BUTTON} <button>unmarked</button>`);
  await visitor.page.locator('i').click();
  await visitor.page.getByText('unmarked').click();
  await visitor.page
    .locator('button')
    .first()
    .click({ position: { x: 1, y: 1 } });
  await visitor.page.locator('button').first().click({ button: 'right' });
  await visitor.page.locator('button').first().click({ button: 'middle' });
  expect(await tracked(demo, visitor)).toEqual([SIGNUP, SIGNUP]);
});

test('a click by keyboard is tracked', { tag: '@long' }, async ({ demo, visitor }) => {
  await arrive(visitor, demo, BUTTON);
  await visitor.page.locator('button').focus();
  await visitor.page.keyboard.press('Enter');
  await visitor.page.keyboard.press('Space');
  expect(await tracked(demo, visitor)).toEqual([SIGNUP, SIGNUP]);
});

test('elements that are added or marked later are tracked', { tag: '@long' }, async ({ demo, visitor }) => {
  await arrive(visitor, demo, '<p>nothing yet</p>');
  await visitor.page.evaluate(() => {
    const added = Object.assign(document.createElement('button'), { textContent: 'added' });
    document.body.append(added);
    added.dataset.clewEvent = 'added_clicked';
  });
  await visitor.page.getByText('added').click();
  expect(await tracked(demo, visitor)).toEqual([['added_clicked', {}]]);
});

test('a click on nested marked elements is tracked once, for the innermost', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  const markup = `<section data-clew-event="card_clicked"><p>text</p><button data-clew-event="buy_clicked">buy</button>
    <input data-clew-event="note_changed"></section>`;
  await arrive(visitor, demo, markup);
  await visitor.page.getByText('buy').click();
  await visitor.page.getByText('text').click();
  await visitor.page.locator('input').click();
  expect(await tracked(demo, visitor)).toEqual([
    ['buy_clicked', {}],
    ['card_clicked', {}],
  ]);
});

test('a click on a label tracks one event for its control', { tag: '@long' }, async ({ demo, visitor }) => {
  const markup = `<label data-clew-event="plan_chosen">Pro <input type="radio" name="plan"></label>
    <div data-clew-event="terms_clicked"><label for="terms">Terms</label> <input id="terms" type="checkbox">
      <i id="control">window.control</i></div>
    <label for="far" data-clew-event="far_clicked">Far</label> <input id="far">`;
  await arrive(visitor, demo, markup);
  for (const text of ['Pro', 'Terms', 'Far']) await visitor.page.getByText(text).click({ position: { x: 2, y: 5 } });
  await visitor.page.locator('[type=radio]').click();
  await visitor.page.locator('#terms').click();
  await visitor.page.getByText('window').click();
  expect((await tracked(demo, visitor)).map((entry) => (entry as unknown[])[0])).toEqual([
    'plan_chosen',
    'terms_clicked',
    'far_clicked',
    'plan_chosen',
    'terms_clicked',
    'terms_clicked',
  ]);
});

test('a click on a link, a button or a label within a marked label is tracked', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  const markup = `<label data-clew-event="terms_clicked"><input type="checkbox"> <a href="#terms">link</a>
      <button type="button">button</button> <details><summary>summary</summary></details> <a>anchor</a></label>
    <section data-clew-event="outer_clicked"><label><input type="checkbox"> <label for="far">inner</label></label></section>
    <input type="checkbox" id="far">`;
  await arrive(visitor, demo, markup);
  for (const text of ['link', 'button', 'summary', 'anchor', 'inner']) await visitor.page.getByText(text).click();
  await expect(visitor.page.locator('#far')).toBeChecked();
  expect(await tracked(demo, visitor)).toEqual([...Array(4).fill(['terms_clicked', {}]), ['outer_clicked', {}]]);
});

test('a click on a mark within a marked label or card is tracked once', async ({ demo, visitor }) => {
  const { page } = visitor;
  const markup = `<label data-clew-event="outer">terms <b id="inner" data-clew-event="inner">of use</b>
      <input id="one" type="checkbox"></label>
    <div data-clew-event="card"><label id="label" data-clew-event="label" for="two">two</label>
      <input id="two" type="checkbox"></div>`;
  await arrive(visitor, demo, markup);
  await page.click('#inner');
  await page.click('#label');
  expect(await page.isChecked('#one')).toBe(true);
  expect(await page.isChecked('#two')).toBe(true);
  await page.click('#one');
  await page.click('#two');
  // The page keeps the browser from clicking the control.
  await page.evaluate(() =>
    document.querySelector('#inner')?.addEventListener('click', (event) => event.preventDefault()),
  );
  await page.click('#inner');
  await page.click('#one');
  const names = ['inner', 'label', 'outer', 'card', 'inner', 'outer'];
  expect(await tracked(demo, visitor)).toEqual(names.map((name) => [name, {}]));
});

test('a marked label and its marked control track one event: the control’s, or else the label’s', {
  tag: '@long',
}, async ({ demo, visitor }) => {
  const { page } = visitor;
  const markup = `<label for="terms" data-clew-event="terms_clicked">Terms</label>
    <input id="terms" type="checkbox" data-clew-event="terms_changed">
    <label for="buy" data-clew-event="buy_clicked">Order</label>
    <button id="buy" type="button" data-clew-event="bought">Buy</button>
    <label data-clew-event="plan_clicked">Pro <input type="radio" checked data-clew-event="plan_changed"></label>
    <label data-clew-event="name_clicked">Name <input data-clew-event="name_changed"></label>
    <label id="own" data-clew-event="own_clicked">Own <input type="checkbox"></label>`;
  await arrive(visitor, demo, markup);
  for (const text of ['Terms', 'Order', 'Pro', 'Name'])
    await page.getByText(text, { exact: true }).click({ position: { x: 2, y: 5 } });
  // The page checks the box by itself.
  await page.evaluate(() =>
    document.querySelector('#own')?.addEventListener('click', (event) => event.preventDefault()),
  );
  await page.locator('#own').click({ position: { x: 2, y: 5 } });
  // The label's event is tracked a task later, because the control could have one.
  await page.evaluate(() => new Promise((done) => setTimeout(done)));
  const names = ['terms_changed', 'bought', 'plan_clicked', 'name_clicked', 'own_clicked'];
  expect(await tracked(demo, visitor)).toEqual(names.map((name) => [name, {}]));
});

test('a middle click on a marked link is tracked, other middle clicks are not', async ({ demo, visitor }) => {
  const markup = `<a href="/blank" data-clew-event="link_clicked">link</a>
    <p data-clew-event="card_clicked"><a href="/blank">inner</a> text</p> <button data-clew-event="pressed">button</button>`;
  await arrive(visitor, demo, markup);
  await visitor.page.evaluate(() => addEventListener('auxclick', (event) => event.preventDefault()));
  for (const text of ['link', 'inner', 'text', 'button'])
    await visitor.page.getByText(text, { exact: text !== 'text' }).click({ button: 'middle' });
  await visitor.page.getByText('link', { exact: true }).click({ button: 'right' });
  expect(await tracked(demo, visitor)).toEqual([
    ['link_clicked', {}],
    ['card_clicked', {}],
  ]);
});

test('a link has no password of the page that was opened with one', async ({ demo, visitor }) => {
  const { page } = visitor;
  await page.goto(`${demo.address.replace('//', '//ann:secret@')}/blank`);
  await page.setContent('<a href="/files/report.pdf">file</a>');
  await visitor.load({ clicks: 'downloads' });
  await page.evaluate(() => addEventListener('click', (event) => event.preventDefault()));
  await page.getByText('file').click();
  expect(await tracked(demo, visitor)).toEqual([['file_downloaded', { url: `${demo.address}/files/report.pdf` }]]);
});

test('clicks on disabled and inert buttons, and on labels of disabled controls, are not tracked', {
  tag: '@long',
}, async ({ demo, visitor }) => {
  const markup = `<label for="far" data-clew-event="far">far</label> <input id="far" disabled>
    <label data-clew-event="near">near <input type="checkbox" disabled></label>
    <fieldset disabled><label for="within" data-clew-event="set">set</label> <input id="within">
      <button data-clew-event="button"><b>button</b></button></fieldset>
    <button disabled data-clew-event="disabled"><b>disabled</b></button>
    <div inert><button data-clew-event="inert">inert</button></div>
    <label data-clew-event="open"><input type="checkbox" disabled> <a href="#open">open</a></label>
    <label data-clew-event="lone">lone</label>`;
  await arrive(visitor, demo, markup);
  for (const text of ['far', 'near', 'set', 'button', 'disabled', 'inert', 'open', 'lone'])
    await visitor.page.getByText(text).click({ force: true });
  expect(await tracked(demo, visitor)).toEqual([
    ['open', {}],
    ['lone', {}],
  ]);
});

test('a label in the shadow root of a marked element tracks one click', { tag: '@long' }, async ({ demo, visitor }) => {
  await arrive(visitor, demo, '<div id="host" data-clew-event="card_clicked"></div>');
  await visitor.page.evaluate(() => {
    const root = document.querySelector('#host')?.attachShadow({ mode: 'open' });
    if (root) root.innerHTML = '<label>label <input type="checkbox"></label>';
  });
  await visitor.page.getByText('label').click();
  await expect(visitor.page.locator('input')).toBeChecked();
  expect(await tracked(demo, visitor)).toEqual([['card_clicked', {}]]);
});

test('a form whose controls are named like properties is tracked', { tag: '@long' }, async ({ demo, visitor }) => {
  const names = 'dataset localName type contains control hasAttribute getAttribute matches href'.split(' ');
  const markup = `<form data-clew-event="form_sent" data-clew-plan="pro">
    ${names.map((name) => `<input name="${name}">`)}
    <label data-clew-event="agreed">agree <input type="checkbox"></label> <button>send</button></form>`;
  await arrive(visitor, demo, markup);
  // Playwright asks the form for its attributes before it clicks.
  await visitor.page.evaluate(() => {
    addEventListener('submit', (event) => event.preventDefault());
    for (const tag of ['label', 'button']) document.querySelector<HTMLElement>(tag)?.click();
  });
  expect(await tracked(demo, visitor)).toEqual([
    ['agreed', {}],
    ['form_sent', { plan: 'pro' }],
  ]);
});

test('clicks, changes and submits are tracked in open shadow roots, also nested ones', async ({ demo, visitor }) => {
  await arrive(visitor, demo, '<div id="host"></div>');
  await visitor.page.evaluate(() => {
    const outer = document.querySelector('#host')?.attachShadow({ mode: 'open' });
    const host = document.createElement('div');
    outer?.append(host);
    const form = Object.assign(document.createElement('form'), { action: 'javascript:void 0' });
    form.addEventListener('submit', (event) => event.preventDefault());
    form.dataset.clewEvent = 'form_submitted';
    const input = document.createElement('input');
    input.dataset.clewEvent = 'name_changed';
    const button = Object.assign(document.createElement('button'), { textContent: 'send' });
    button.dataset.clewEvent = 'send_clicked';
    // A change that leaves the shadow root, as some components send one.
    input.addEventListener('change', () => {
      const event = new Event('change', { bubbles: true, composed: true });
      if (button.value !== 'sent') {
        button.value = 'sent';
        input.dispatchEvent(event);
      }
    });
    form.append(input, button);
    host.attachShadow({ mode: 'open' }).append(form);
  });
  await visitor.page.locator('input').fill('secret');
  await visitor.page.keyboard.press('Tab');
  await visitor.page.getByText('send').click();
  expect(await tracked(demo, visitor)).toEqual([
    ['name_changed', {}],
    ['name_changed', {}],
    ['send_clicked', {}],
    ['form_submitted', {}],
  ]);
});

test('tracks clicks whose propagation the page stops, and does not change how the page handles them', async ({
  demo,
  visitor,
}) => {
  await arrive(visitor, demo, `${BUTTON}<a href="/blank?next" data-clew-event="link_clicked">link</a>`);
  await visitor.page.evaluate(() => {
    const stopped: boolean[] = [];
    Object.assign(window, { stopped });
    window.addEventListener(
      'click',
      (event) => {
        stopped.push(event.defaultPrevented, event.cancelable);
        event.stopImmediatePropagation();
        event.preventDefault();
      },
      true,
    );
  });
  await visitor.page.locator('i').click();
  await visitor.page.locator('a').click();
  expect(await visitor.page.evaluate(() => (window as unknown as { stopped: boolean[] }).stopped)).toEqual([
    false,
    true,
    false,
    true,
  ]);
  expect(await tracked(demo, visitor)).toEqual([SIGNUP, ['link_clicked', {}]]);
  expect(visitor.page.url()).toBe(`${demo.address}/blank`);
});

test('a link and a form that leave the page are tracked and still navigate', { tag: '@promise' }, async ({
  demo,
  visitor,
}) => {
  const markup = `<a href="/blank?next" data-clew-event="link_clicked">link</a>
    <form action="/blank" data-clew-event="searched" data-clew-where="top"><input name="q"><button>go</button></form>`;
  await arrive(visitor, demo, markup);
  await visitor.page.locator('a').click();
  await visitor.page.waitForURL('**/blank?next');
  await expect.poll(() => demo.events('link_clicked')).toHaveLength(1);

  await arrive(visitor, demo, markup);
  await visitor.page.locator('input').fill('secret');
  await visitor.page.keyboard.press('Enter');
  await visitor.page.waitForURL('**/blank?q=secret');
  await expect
    .poll(async () => (await demo.events('searched')).map(({ payload }) => payload))
    .toEqual([{ where: 'top' }]);
});

test('a change and a submit are tracked without the values that a person entered', {
  tag: '@promise',
}, async ({ demo, visitor }) => {
  const { page } = visitor;
  const markup = `<form data-clew-event="ordered" data-clew-step="2"><input name="dataset2" data-clew-event="named">
    <input type="password" data-clew-event="password_set"><textarea data-clew-event="noted"></textarea>
    <select data-clew-event="plan_chosen"><option>free</option><option value="secret">pro</option></select>
    <input type="checkbox" data-clew-event="agreed"><input type="button" value="help" data-clew-event="help_clicked">
    <input type="submit" value="send" data-clew-event="send_clicked"></form>
    <p contenteditable data-clew-event="editor_clicked">text</p>`;
  await arrive(visitor, demo, markup, 'outbound downloads');
  await page.evaluate(() => addEventListener('submit', (event) => event.preventDefault()));
  await page.locator('[data-clew-event=named]').fill('secret');
  await page.locator('[type=password]').fill('secret');
  await page.locator('textarea').fill('secret');
  await page.keyboard.press('Tab');
  await page.locator('select').selectOption('secret');
  await page.locator('[type=checkbox]').check();
  await page.locator('[type=button]').click();
  await page.locator('[type=submit]').click();
  await page.locator('p').click();
  await page.keyboard.type('secret');
  const events = await tracked(demo, visitor);
  expect(events).toEqual([
    ['named', {}],
    ['password_set', {}],
    ['noted', {}],
    ['plan_chosen', {}],
    ['agreed', {}],
    ['help_clicked', {}],
    ['send_clicked', {}],
    ['ordered', { step: '2' }],
    ['editor_clicked', {}],
  ]);
  expect(JSON.stringify(await demo.events())).not.toContain('secret');
});

const LINKS = `<a id="out" href="https://other.example/path?x=1">another host</a>
  <a id="in" href="/blank?next">same host</a> <a href="mailto:ann@example.com" id="mail">mail</a>
  <a id="file" href="/files/Report.PDF?v=2">report</a> <a id="named" href="/export" download>export</a>
  <a id="made" href="data:text/plain,secret" download="made.txt">made</a>
  <a id="both" href="https://other.example/app.zip" data-clew-event="app_wanted">app</a>`;

test('with the options, links to other hosts and to files are tracked, also by middle button', {
  tag: '@long',
}, async ({ demo, visitor }) => {
  await arrive(visitor, demo, LINKS, 'Outbound,\ndownloads');
  // The page keeps the browser from following these links.
  await visitor.page.evaluate(() => {
    for (const type of ['click', 'auxclick']) addEventListener(type, (event) => event.preventDefault());
  });
  for (const id of ['out', 'in', 'mail', 'file', 'named', 'made', 'both']) await visitor.page.click(`#${id}`);
  await visitor.page.click('#out', { button: 'middle' });
  await visitor.page.click('#out', { button: 'right' });
  expect(await tracked(demo, visitor)).toEqual([
    ['outbound_clicked', { url: 'https://other.example/path?x=1' }],
    ['file_downloaded', { url: `${demo.address}/files/Report.PDF?v=2` }],
    ['file_downloaded', { url: `${demo.address}/export` }],
    ['app_wanted', {}],
    ['file_downloaded', { url: 'https://other.example/app.zip' }],
    ['outbound_clicked', { url: 'https://other.example/path?x=1' }],
  ]);
});

test('links in SVG and image maps are tracked', { tag: '@long' }, async ({ demo, visitor }) => {
  const svg = (attributes: string, text: string) =>
    `<svg width="90" height="20"><a ${attributes}><text y="15">${text}</text></a></svg>`;
  const markup = `${svg('href="https://other.example/svg" target="_blank"', 'outside')}
    ${svg('xlink:href="https://other.example/xlink"', 'old')} ${svg('href="files/yarn.pdf"', 'file')}
    ${svg('href="/blank"', 'inside')} ${svg('', 'nowhere')} ${svg('href="mailto:ann@example.com"', 'mail')}
    <map name="map"><area shape="rect" coords="0,0,50,50" href="https://other.example/area"></map>
    <img usemap="#map" width="50" height="50" alt="map"
      src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7">`;
  await arrive(visitor, demo, markup, 'outbound downloads');
  await visitor.page.evaluate(() => addEventListener('click', (event) => event.preventDefault()));
  for (const text of ['outside', 'old', 'file', 'inside', 'nowhere', 'mail'])
    await visitor.page.getByText(text).click();
  await visitor.page.locator('img').click({ force: true });
  expect(await tracked(demo, visitor)).toEqual([
    ['outbound_clicked', { url: 'https://other.example/svg' }],
    ['outbound_clicked', { url: 'https://other.example/xlink' }],
    ['file_downloaded', { url: `${demo.address}/files/yarn.pdf` }],
    ['outbound_clicked', { url: 'https://other.example/area' }],
  ]);
});

test('without the options, links are not tracked', { tag: '@long' }, async ({ demo, visitor }) => {
  await arrive(visitor, demo, LINKS);
  await visitor.page.evaluate(() => addEventListener('click', (event) => event.preventDefault()));
  for (const id of ['out', 'file', 'named', 'both']) await visitor.page.click(`#${id}`);
  expect(await tracked(demo, visitor)).toEqual([['app_wanted', {}]]);
});

test('a click on a link to another host arrives although the page unloads', { tag: '@promise' }, async ({
  demo,
  visitor,
}) => {
  // The same server under another name.
  const elsewhere = `${demo.address.replace('127.0.0.1', 'localhost')}/blank`;
  await arrive(visitor, demo, `<a href="${elsewhere}">out</a>`, 'outbound');
  await visitor.page.locator('a').click();
  await visitor.page.waitForURL(elsewhere);
  await expect
    .poll(async () => (await demo.events('outbound_clicked')).map(({ payload }) => payload))
    .toEqual([{ url: elsewhere }]);
});

test('after stop() no click is tracked, and a new tracker tracks each click once', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  await arrive(visitor, demo, BUTTON);
  await visitor.clew('stop');
  await visitor.page.locator('i').click();
  await visitor.page.evaluate(() => Reflect.deleteProperty(window, 'clew'));
  await visitor.load({ clicks: '' });
  await visitor.page.locator('i').click();
  expect(await tracked(demo, visitor)).toEqual([SIGNUP]);
});

test('$identify in markup is not tracked and is reported as an error', { tag: '@long' }, async ({ demo, visitor }) => {
  await arrive(visitor, demo, '<button data-clew-event="$identify" data-clew-distinct_id="eve">become</button>');
  await visitor.page.evaluate(() => {
    const heard: string[] = [];
    Object.assign(window, { heard });
    window.clew('on', 'error', ({ message }: Error) => heard.push(message));
  });
  await visitor.page.locator('button').click();
  expect(await tracked(demo, visitor)).toEqual([]);
  expect(await visitor.page.evaluate(() => (window as unknown as { heard: string[] }).heard)).toEqual([
    expect.stringContaining('$identify'),
  ]);
});
