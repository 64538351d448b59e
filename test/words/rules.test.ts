import { describe, expect, it } from 'vitest';
import { BANNED, commentFaultsOf, faultsOf, formFaultsOf, titleFaultsOf } from './rules.ts';

const expectedOf = (markdown: string) => faultsOf(markdown).map(({ expected }) => expected);
const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ');

describe('the length of a sentence', () => {
  it.each([
    ['in a paragraph', (text: string) => `${text}.`],
    ['in an item of a list', (text: string) => `- a\n- **b** ${text}`],
    ['in a heading', (text: string) => `## ${text}`],
    ['in a cell', (text: string) => `| a |\n| --- |\n| ${text} |`],
    ['over several lines', (text: string) => text.replaceAll('word word', 'word\nword')],
    ['in the text of a link', (text: string) => `[${text}](page.md)`],
    ['in the text of a picture', (text: string) => `![${text}](picture.svg)`],
  ])('is at most 25 words, %s', (_, pageOf) => {
    expect(faultsOf(pageOf(words(24)))).toEqual([]);
    expect(expectedOf(pageOf(words(26)))).toEqual(['at most 25 words in a sentence']);
  });

  it('is counted for each sentence, with its own line', () => {
    expect(faultsOf(`${words(20)}. W${words(20)}.`)).toEqual([]);
    expect(faultsOf(`${words(20)}. clew ${words(20)}.`)).toEqual([]);
    expect(faultsOf(`# A\n\nShort.\nW${words(26)}.`)).toMatchObject([{ line: 4 }]);
  });

  it('does not count inline code', () => {
    expect(faultsOf(`${words(25)} \`a b c\` and`)).toMatchObject([{ found: expect.stringContaining('26 words') }]);
    expect(faultsOf(`${words(25)} \`a b c\`, \`d\``)).toEqual([]);
  });
});

describe('a sentence', () => {
  it.each(['What', 'Who', 'Whoever', 'Of', 'Nor', 'It', 'Their'])('does not open with %s', (word) => {
    const expected = [`a sentence that does not open with "${word}"`];
    expect(expectedOf(`${word} clew keeps is small.`)).toEqual(expected);
    expect(expectedOf(`Clew is small. **${word}** is kept.`)).toEqual(expected);
    expect(faultsOf(`Clew knows ${word.toLowerCase()} it keeps.`)).toEqual([]);
    expect(faultsOf(`| ${word} clew keeps |\n| --- |\n`)).toEqual([]);
  });

  it('has no semicolon', () => {
    expect(expectedOf('Clew sends; the relay answers.')).toEqual(['two sentences for a semicolon']);
    expect(faultsOf('Clew sends `a; b`.')).toEqual([]);
  });

  it('has at most one colon', () => {
    expect(expectedOf('One: two: three.')).toEqual(['at most one colon in a sentence']);
    expect(faultsOf('One: two at 10:20. Three: four.')).toEqual([]);
  });
});

describe('a banned word', () => {
  const EXAMPLES = [
    'told',
    'hears',
    'said',
    'believes',
    'spoiled',
    'mended',
    'becomes of',
    'way',
    'fares',
    'thread',
    'answered for',
    'has not come',
    'carried in a journal until',
    'carried in localStorage',
    'somebody',
    'once more',
    'a repeat',
    'what waits',
    'search for the event',
    'page goes',
    'rights it',
    'serves nobody',
    'is hard to make',
    'sends, nor',
    'is the one that',
    'speaks for',
    'is kept by the',
    'holds up',
    'cannot be meant',
    'behind what',
    'is required, but with',
    'is not without',
    'does not lose nothing',
    'is not uncommon',
  ];

  it.each(BANNED.map(([pattern, instead], index) => [EXAMPLES[index] ?? '', instead, pattern] as const))(
    'is found: "%s"',
    (word, instead, pattern) => {
      expect(word).toMatch(pattern);
      expect(expectedOf(`Clew\n${word} it.`)).toContain(instead);
      expect(faultsOf(`Clew\n${word} it.`)[0]?.line).toBe(2);
      expect(expectedOf(`| Clew ${word} it |\n| --- |\n`)).toContain(instead);
    },
  );

  it.each([
    ['It is hard to make lose an event.'],
    ['Nobody speaks for another.'],
    ['Nothing is forgotten by the one that keeps it, nor is anything kept by the one that forgets.'],
    ['Nothing bad holds up the good.'],
    ['Behind what nobody can read there may be more.'],
  ])('makes a riddle, which is found: %s', (riddle) => {
    expect(faultsOf(riddle)).not.toEqual([]);
  });

  it.each([
    'Clew always works on the main thread, away from the page.',
    'A ball of thread leads through a labyrinth.',
    'A beacon carries no key.',
  ])('is not found in: %s', (sentence) => {
    expect(faultsOf(sentence)).toEqual([]);
  });
});

it.each([
  '```ts\n// told; of a way: by: thread\n```',
  'Call `told(way)`.',
  '<!-- told of a way; -->',
  '<p class="told">',
  '<pre>told</pre>',
  '<p><code>told</code> it</p>',
  '<script>\nconst way = "told";\n</script>',
  '[Read on](told/way.md#thread).',
  '![A picture](way.svg)',
])('code, comments and addresses are not prose: %s', (markdown) => {
  expect(faultsOf(markdown)).toEqual([]);
});

describe('in Markdown, prose includes', () => {
  it.each([
    ['the alternative text of an HTML image', '# A\n\n<img src="a.svg"\n  alt="An event is told">', 4],
    ['the alternative text of an HTML image in a sentence', 'An <img alt="Clew was told" src="a.svg"> image', 1],
    ['the title of an element', '<p title="told">\n</p>', 1],
    ['a label for screen readers', "<p aria-label='told'></p>", 1],
    ['the text of HTML', '<details>\n<summary>A</summary>\nClew is <b>told</b>.\n</details>', 3],
    ['the title of a link', '# A\n\n[a](b.md "Clew is told")', 3],
    ['the title of a picture', '![a](b.svg "Clew is told")', 1],
    ['the title of a definition', '[a]\n\n[a]: b.md "Clew is told"', 3],
  ])('%s', (_, markdown, line) => {
    expect(faultsOf(markdown)).toMatchObject([{ line, found: '"told"' }]);
  });
});

it('each text between HTML blocks has sentences of its own', () => {
  expect(faultsOf(`<p>${words(20)}</p>\n<p>${words(20)}</p>`)).toEqual([]);
  expect(expectedOf(`<p>${words(20)} <b>${words(20)}</b></p>`)).toEqual(['at most 25 words in a sentence']);
  expect(faultsOf('<p>Clew &amp; relay &lt;3</p>')).toEqual([]);
});

describe('in a form for issues, prose includes', () => {
  it.each(['name', 'description', 'label', 'placeholder', 'value', 'title', 'about'])('the text of %s', (key) => {
    expect(
      formFaultsOf(`name: A\nbody:\n  - attributes:\n      ${key}: >-\n        Clew is\n        told.\n`),
    ).toMatchObject([{ line: 4, found: '"told"' }]);
  });

  it('no id, no option and no comment', () => {
    expect(formFaultsOf('# told\nbody:\n  - id: told\n    options: [way, told]\n')).toEqual([]);
  });
});

describe('the title of a test', () => {
  it.each([
    ['describe', (title: string) => `describe('${title}', () => {});`],
    ['it', (title: string) => `it('${title}', () => {});`],
    ['it.each', (title: string) => `it.each([1])('${title}', () => {});`],
    ['test.step', (title: string) => `await test.step('${title}', async () => {});`],
    ['a numbered fault', (title: string) => `fault(7, '${title}', async () => {});`],
    ['a template', (title: string) => `it(\`${title}: \${told}\`, () => {});`],
  ])('has no banned word and at most 18 words in %s', (_, sourceOf) => {
    expect(titleFaultsOf(sourceOf(words(18)))).toEqual([]);
    expect(titleFaultsOf(sourceOf(words(19)))).toMatchObject([{ line: 1, expected: 'at most 18 words in a title' }]);
    expect(titleFaultsOf(`\n${sourceOf('the page is told')}`)).toMatchObject([{ line: 2, found: '"told"' }]);
  });

  it.each(['what is queued is sent', 'whoever is identified stays', 'sends one event; drops another'])(
    'names its subject in one sentence, unlike "%s"',
    (title) => {
      expect(titleFaultsOf(`it('${title}', () => {});`)).toHaveLength(1);
    },
  );

  it('may open with "of" and contain placeholders', () => {
    expect(titleFaultsOf("it.each([])('of %i events is $told', () => {});")).toEqual([]);
  });

  it('is a literal: code and other texts are not checked', () => {
    expect(
      titleFaultsOf("it('sends', () => { const told = 'told'; expect(told).toBe('what it said; way'); });"),
    ).toEqual([]);
  });
});

describe('in a source, prose includes', () => {
  it.each([
    ['a comment', '// told', 1],
    ['a comment after code', 'const a = 1; // told', 1],
    ['a comment in a list', 'const a = [\n  // told\n  1,\n];', 2],
    ['a comment in an empty block', 'try {\n} catch {\n  // told\n}', 3],
    ['a comment in JSX', 'const a = <p>{/* told */}</p>;', 1],
    ['a docstring', '/** The call is told. */\nconst a = 1;', 1],
    ['a docstring of several lines', '/**\n * The call is\n * told.\n */\nconst a = 1;', 3],
    ['the text of a tag', '/** @param name - is told */', 1],
    ['a directive', '// biome-ignore lint/suspicious/noConsole: the call is told', 1],
    ['the last line of a file', 'const a = 1;\n// told', 2],
  ])('%s', (_, source, line) => {
    expect(commentFaultsOf(source, 'a.tsx')).toMatchObject([{ line, found: '"told"' }]);
  });

  it.each([
    'const told = "// told"; // `told` and https://example.com/told',
    'const told = /told\\/\\//;',
    '/** @param told {@link told} */',
    '/** @param {{ told: { told?: string }[], told: string }} told */',
    '/**\n * @example\n * told; told();\n * // told\n */',
    'const a = <p>// told</p>;',
  ])('no code, no address and no example: %s', (source) => {
    expect(commentFaultsOf(source, 'a.tsx')).toEqual([]);
  });
});

it('a comment after a generic function is found in TypeScript without JSX', () => {
  const source = 'const a = <T>(b: T) => b;\n// told';
  expect(commentFaultsOf(source, 'a.ts')).toMatchObject([{ line: 2 }]);
});

it('a sentence in a comment may take several lines', () => {
  const lines = words(26).replace(/(.{40,}?) /g, '$1\n// ');
  expect(commentFaultsOf(`// ${lines}`, 'a.ts')).toMatchObject([{ expected: 'at most 25 words in a sentence' }]);
  expect(commentFaultsOf(`// ${words(20)}\n\n// ${words(20)}`, 'a.ts')).toEqual([]);
  expect(commentFaultsOf(`/**\n * ${words(20)}\n *\n * - ${words(20)}\n * - ${words(20)}\n */`, 'a.ts')).toEqual([]);
});
