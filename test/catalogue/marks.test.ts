import { describe, expect, it } from 'vitest';
import { makeCatalogue } from '../../src/catalogue/catalogue.ts';
import { payloadFault } from '../../src/catalogue/fits.ts';
import { plainText, tagsIn } from '../../src/catalogue/html.ts';
import { marksInTags } from '../../src/catalogue/marks.ts';
import { reportOn } from '../../src/catalogue/report.ts';
import { marksOfJsx, readEvents } from './readSource.ts';

const marksOf = (html: string) =>
  marksInTags(tagsIn(html), 'page.html').map(({ kind, names, properties }) => [
    kind,
    names,
    Object.fromEntries(properties),
  ]);
const EVENT = 'data-clew-event=a';

describe('HTML', () => {
  it.each([
    ['quotes within ERB', `<a href="<%= path("x") %>" ${EVENT} data-clew-x="<%= y ? "1" : "2" %>">`, { x: undefined }],
    ['quotes within Jinja', `<a href="{{ url_for("x") }}" ${EVENT} data-clew-x="1">`, { x: ['1'] }],
    ['a part without quotes', `<a data-clew-y=<%= y %> ${EVENT} data-clew-x=1>`, { y: undefined, x: ['1'] }],
    ['text like a part', `<a title="use {{ here" ${EVENT}>\n{{ "<b>" }}`, {}],
    ['a number of no character', `<a ${EVENT} data-clew-x="a&#99999999;&#0;">`, { x: ['a\ufffd\ufffd'] }],
  ])('with %s', (_what, html, properties) => {
    expect(marksOf(html)).toEqual([['event', ['a'], properties]]);
  });

  it.each([
    '{% if pro %}data-clew-plan="pro"{% else %}data-clew-plan="free"{% endif %}',
    '<% if pro %>data-clew-plan="pro"<% else %>data-clew-plan="free"<% end %>',
    '<% if (pro) { %>data-clew-plan="pro"<% } else { %>data-clew-plan="free"<% } %>',
    '<?php if ($pro): ?>data-clew-plan="pro"<?php else: ?>data-clew-plan="free"<?php endif; ?>',
    '<?php if ($pro) { ?>data-clew-plan="pro"<?php } else { ?>data-clew-plan="free"<?php } ?>',
    '{{#if pro}}data-clew-plan="pro"{{else}}data-clew-plan="free"{{/if}}',
  ])('has all attributes among which %s chooses', (attributes) => {
    const [mark] = marksInTags(tagsIn(`<a ${EVENT} ${attributes} data-clew-last="1">`), 'page.html');
    expect(Object.fromEntries(mark?.properties ?? [])).toEqual({ plan: ['pro', 'free'], last: ['1'] });
    expect([...(mark?.optional ?? [])]).toEqual(['plan']);
  });

  it('has all events among which a template chooses', () => {
    const html = '<a {% if pro %}data-clew-event="a"{% else %}data-clew-event="b"{% endif %}>';
    expect(marksOf(html)).toEqual([['event', ['a', 'b'], {}]]);
  });

  it('in a Razor page has parts that begin with @', () => {
    const html = `<a ${EVENT} data-clew-x="@Model.Plan" data-clew-y="me@example.com" data-clew-z="@@x">`;
    const [mark] = marksInTags(tagsIn(html), 'page.cshtml');
    expect(Object.fromEntries(mark?.properties ?? [])).toEqual({ x: undefined, y: ['me@example.com'], z: ['@x'] });
  });

  it('with many tags that do not end is read in one pass', () => {
    expect(tagsIn('<a b=c '.repeat(200_000))).toEqual([]);
  }, 2000);

  it.each([
    ['quotes', `<a data-clew-event="a" data-clew-plan='p q' data-clew-n=3>`, { plan: ['p q'], n: ['3'] }],
    ['spaces and lines', `<a\n ${EVENT}\n data-clew-plan = "p"\n>`, { plan: ['p'] }],
    ['upper case', '<A DATA-CLEW-EVENT=a DATA-CLEW-PLAN-NAME="Pro">', { planName: ['Pro'] }],
    ['no value', `<a ${EVENT} data-clew-vip>`, { vip: [''] }],
    ['names of characters', `<a ${EVENT} data-clew-x="a &amp; &#98; &#x63; &lt;">`, { x: ['a & b c <'] }],
    ['a name of a character that is not common', `<a ${EVENT} data-clew-x="&eacute;">`, { x: undefined }],
    ['the first of two attributes', `<a ${EVENT} data-clew-x=1 data-clew-x=2>`, { x: ['1'] }],
    ['a `>` in a value', `<a title="a > b" ${EVENT}>`, {}],
    ['an end of its own', `<input ${EVENT} data-clew-x="1"/>`, { x: ['1'] }],
    ['attributes of others', `<a ${EVENT} data-clew="1" data-clew-="2" data-other-x="3" clew-x="4">`, {}],
    ['a property that begins with a digit', `<a ${EVENT} data-clew-2x="1">`, {}],
  ])('with %s', (_what, html, properties) => {
    expect(marksOf(html)).toEqual([['event', ['a'], properties]]);
  });

  it.each([
    ['a comment', `<!-- <a ${EVENT}> -->`],
    ['a script', `<script>const a = '<a ${EVENT}>'</script>`],
    ['a style', `<style>a::after { content: '<a ${EVENT}>' }</style>`],
    ['a text area', `<textarea><a ${EVENT}></textarea>`],
    ['a script without an end', `<script><a ${EVENT}>`],
    ['text', `a < b ${EVENT} > c`],
    ['an end tag', `</a ${EVENT}>`],
    ['a value', `<a title='<b ${EVENT}>'>`],
    ['a mark without a name', '<a data-clew-event="">'],
    ['a mark without an event', '<a data-clew-plan="pro">'],
  ])('finds nothing in %s', (_what, html) => {
    expect(marksOf(html)).toEqual([]);
  });

  it('goes on after a comment, a script, and a tag without an end', () => {
    expect(marksOf(`<!-- -- > --><a ${EVENT}><script>"<b"</script><b ${EVENT}>1 <2 <c x="<d ${EVENT}>`)).toHaveLength(
      3,
    );
  });

  it.each([
    [
      'Vue',
      `<a :class="{ on: a > b }" data-clew-event="a" :data-clew-x="plan" :data-clew-y="'pro'">`,
      { x: undefined, y: ['pro'] },
    ],
    [
      'Svelte',
      `<a on:click={() => go('}')} ${EVENT} data-clew-x={plan > 1 ? 'a' : "b"} {...rest} data-clew-y="a-{b}">`,
      { x: undefined, y: undefined },
    ],
    ['Svelte, in a block', `{#if a}<a ${EVENT}>{/if}`, {}],
    ['Angular', `<a ${EVENT} [attr.data-clew-x]="plan" (click)="go()">`, { x: undefined }],
    [
      'Jinja',
      `<a {% if a > b %}class="x"{% endif %} ${EVENT} data-clew-x="{{ plan|default("pro") }}">`,
      { x: undefined },
    ],
    ['PHP', `<?php if ($a > "b") { ?><a ${EVENT} data-clew-x="<?= $plan ?>"><?php } ?>`, { x: undefined }],
    ['ERB', `<% if a < b %><a ${EVENT} data-clew-x="<%= plan %>"><% end %>`, { x: undefined }],
  ])('is read in templates of %s', (_what, html, properties) => {
    expect(marksOf(html)).toEqual([['event', ['a'], properties]]);
  });

  it.each([
    [`<button onclick="clew('track', 'played', { title: 'Tour' })">`, [['played']]],
    ['<button onclick="clew(&quot;track&quot;, &#39;R &amp; D&#39;)">', [['R & D']]],
    ['<a @click="clew(`track`, `a`)">', [['a']]],
    [
      `<script>const url = 'https://a.example'; clew('track', 'a'); window.clew?.("track", "it's")</script>`,
      [['a'], ["it's"]],
    ],
    [
      `<script>clew('track', name); clew('track', 'a' + b); clew('track', 'a_{{ b }}')</script>`,
      [undefined, undefined, undefined],
    ],
    [
      `<a v-clew="'a'"><a v-clew:focus="{ payload: { event: 'no' }, event: 'b' }"><a v-clew="c">`,
      [['a'], ['b'], undefined],
    ],
    [`<script>\n// clew('track', 'a')\n/* clew('track', 'b')\n*/ clew('identify', 'c')</script>`, []],
    [`<pre>clew('track', 'a')</pre><!-- <script>clew('track', 'b')</script> --><a v-clewed="'c'">`, []],
  ])('has calls: %s', (html, names) => {
    const calls = marksInTags(tagsIn(html), 'page.html');
    expect(calls.map(({ kind, names }) => [kind, names])).toEqual(names.map((one) => ['call', one]));
  });

  it('has the lines of its marks', () => {
    expect(
      marksInTags(tagsIn(`\n\n<p>\n<a ${EVENT}></p>\n<b ${EVENT}>`), 'page.html').map(({ place }) => place),
    ).toEqual(['page.html:4', 'page.html:5']);
  });

  it('of a form with both marks has both', () => {
    expect(marksOf('<form data-clew-form="signup" data-clew-event="sent" data-clew-plan="pro">')).toEqual([
      ['event', ['sent'], { form: ['signup'], plan: ['pro'] }],
      ['form', ['signup'], { form: ['signup'], plan: ['pro'] }],
    ]);
  });
});

it('a value with a template in it is no plain text', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of another language
  expect(['a', 'a {{ b }}', '<%= a %>', '${a}'].map((value) => plainText(value))).toEqual([
    'a',
    undefined,
    undefined,
    undefined,
  ]);
});

it('JSX has the values of its types', () => {
  const marks = marksOfJsx(`
    declare const plan: 'free' | 'pro'; declare const term: string; declare const maybe: 'x' | undefined; declare const n: 1 | 2;
    export const page = <div>
      <button data-clew-event="bought" data-clew-plan={plan} data-clew-term={term} data-clew-maybe={maybe} data-clew-n={n} data-clew-on={true} />
      <a data-clew-event={plan === 'pro' ? 'a' : 'b'} {...{}}>x</a>
    </div>`);
  expect(
    marks.map(({ place, names, properties, optional }) => [
      place,
      names,
      Object.fromEntries(properties),
      [...optional],
    ]),
  ).toEqual([
    [
      'page.tsx:4',
      ['bought'],
      { plan: ['free', 'pro'], term: undefined, maybe: ['x'], n: ['1', '2'], on: ['true'] },
      ['maybe'],
    ],
    ['page.tsx:5', ['a', 'b'], {}, []],
  ]);
});

describe('a catalogue of marks', () => {
  const made = (source: string, html: string) =>
    makeCatalogue(readEvents(source), marksInTags(tagsIn(html), 'page.html'));

  it('has events that the types lack, with the values of all marks', () => {
    const { catalogue } = made(
      'interface Events { other: undefined }',
      `<a data-clew-event="bought" data-clew-plan="pro"><a data-clew-event="bought" data-clew-plan="free" data-clew-tag="{{ x }}">`,
    );
    expect(catalogue.anyOf[1]).toEqual({
      title: 'bought',
      type: 'object',
      properties: {
        event: { const: 'bought' },
        payload: {
          type: 'object',
          properties: { plan: { enum: ['free', 'pro'] }, tag: { type: 'string' } },
          required: ['plan'],
        },
      },
      required: ['event', 'payload'],
    });
  });

  it('does not require a property whose attribute a template may leave out', () => {
    const { catalogue } = made(
      'interface Events { other: undefined }',
      '<a data-clew-event="bought" data-clew-plan="pro" {% if gift %}data-clew-gift="1"{% endif %}>',
    );
    expect(catalogue.anyOf[1]?.properties.payload).toMatchObject({
      properties: { plan: { const: 'pro' }, gift: { const: '1' } },
      required: ['plan'],
    });
  });

  it('has calls with any payload, so that a mark is not gone once it is a call', () => {
    const source = 'interface Events { typed: { a: 1 } }';
    const before = made(source, '<a data-clew-event="bought" data-clew-plan="pro">');
    const after = made(
      source,
      `<a onclick="clew('track', 'bought', { plan: 'pro' })"><a v-clew="'typed'"><a v-clew="x">`,
    );
    expect(after.catalogue.anyOf[1]).toEqual({
      title: 'bought',
      type: 'object',
      properties: { event: { const: 'bought' }, payload: {} },
      required: ['event'],
    });
    expect(reportOn(before.catalogue, after.catalogue, []).isBreaking).toBe(false);
    expect(after).toMatchObject({
      faults: [],
      notes: ['page.html:1: the name of the event is computed, so the catalogue does not have it'],
    });
  });

  it.each([
    [
      'a mark',
      'interface Events { other: undefined }',
      '<a data-clew-event="file_downloaded" data-clew-file="pricing"><form data-clew-form="signup" data-clew-event="form_started">',
    ],
    [
      'a type',
      "interface Events { file_downloaded: { file: 'pricing' }; form_started: { form: 'signup' } }",
      '<form data-clew-form="signup">',
    ],
    [
      'a pattern of types',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a type
      "interface Events { file_downloaded: { file: 'pricing' }; [name: `form_${string}`]: { form: 'signup' } }",
      '<form data-clew-form="signup">',
    ],
  ])('also has the own event of clew if %s has the name of one', (_what, source, html) => {
    const { catalogue } = made(source, html);
    const fault = (name: string, payload: unknown) => {
      const [event, ...others] = catalogue.anyOf.filter(({ title }) => title === name);
      expect([!!event, others]).toEqual([true, []]);
      return event && payloadFault(event, payload, {});
    };
    expect([
      fault('file_downloaded', { file: 'pricing' }),
      fault('file_downloaded', { url: 'https://shop.example/a.pdf' }),
      fault('form_started', { form: 'signup' }),
      fault('form_started', { form: 'signup', field: 'email' }),
    ]).toEqual([undefined, undefined, undefined, undefined]);
    expect(fault('file_downloaded', { url: 1 })).toBeTruthy();
    expect(catalogue.anyOf.find(({ title }) => title === 'file_downloaded')?.description).toContain('link to a file.');
  });

  it('has the events of forms once a form is marked', () => {
    const names = (html: string) =>
      made('interface Events { other: undefined }', html).catalogue.anyOf.map(({ title }) => title);
    expect(names('<p>')).not.toContain('form_started');
    expect(names('<form data-clew-form="signup">')).toEqual(
      expect.arrayContaining(['form_started', 'form_error', 'form_submitted', 'form_abandoned']),
    );
  });

  it.each([
    ["{ plan: 'free' | 'pro' }", 'data-clew-plan="pro"', undefined],
    ["{ plan: 'free' | 'pro' }", 'data-clew-plan="gold"', 'payload.plan: expected "free" or "pro", got a string'],
    ["{ plan: 'free' | 'pro' }", '', 'payload.plan: expected "free" or "pro", got nothing'],
    ["{ plan: 'free' | 'pro' }", 'data-clew-plan="{{ plan }}"', undefined],
    ['{ count: number }', 'data-clew-count="{{ count }}"', 'payload.count: expected a number, got a string'],
    ['{ count: number }', 'data-clew-count="3"', 'payload.count: expected a number, got a string'],
    ['{ term: string } | undefined', '', undefined],
    ['undefined', 'data-clew-plan="pro"', undefined],
    ["{ kind: 'a'; x: string } | { kind: 'b' }", 'data-clew-kind="a"', 'payload.x: expected a string, got nothing'],
  ])('of a payload %s with %s has the fault %s', (type, attributes, fault) => {
    const { faults } = made(`interface Events { done: ${type} }`, `<a data-clew-event="done" ${attributes}>`);
    expect(faults).toEqual(fault ? [`page.html:1: done: ${fault}`] : []);
  });

  it.each([
    ['<a data-clew-event="$identify">', "'$identify'"],
    [`<a onclick="clew('track', '')">`, "''"],
  ])('does not have %s, because the tracker rejects the name', (html, name) => {
    const { catalogue, faults } = made('interface Events { a: undefined }', html);
    expect(faults).toEqual([`page.html:1: ${name}: the tracker rejects an event of this name`]);
    expect(catalogue).toEqual(made('interface Events { a: undefined }', '').catalogue);
  });

  it('names a mark whose event is computed', () => {
    expect(made('interface Events { a: undefined }', '<a data-clew-event="{{ name }}">').notes).toEqual([
      'page.html:1: the name of the event is computed, so the catalogue does not have it',
    ]);
  });
});

it('line ends of Windows make no difference', () => {
  const types = 'interface Events {\n /** One\n * two. */\n a: {\n /** Three\n * four. */\n b: string } }';
  const html = '<a\ndata-clew-event="c\nd" data-clew-e="f\ng"><script>\nclew(\'track\', `h\ni`)</script>';
  const jsx = 'const page = <a data-clew-event="j\nk" data-clew-l="m&amp;\nn" />;';
  const made = (convert: (text: string) => string) =>
    makeCatalogue(readEvents(convert(types)), [
      ...marksOfJsx(convert(jsx)),
      ...marksInTags(tagsIn(convert(html)), 'page.html'),
    ]);
  expect(made((text) => text.replaceAll('\n', '\r\n'))).toEqual(made((text) => text));
});

it('JSX has the names of characters that HTML has', () => {
  const [mark] = marksOfJsx('const page = <a data-clew-event="A &amp; B" data-clew-x="{1}" />;');
  expect([mark?.names, ...(mark?.properties ?? [])]).toEqual([['A & B'], ['x', ['{1}']]]);
});
