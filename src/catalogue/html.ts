/**
 * Reads the tags of HTML and of templates such as Vue, Svelte, Astro, Jinja, PHP or ERB. The payload of a mark is on its own
 * element, so the tree around it is not needed. A parser of documents would reject or move the tags of a template.
 */

/** An element's start tag. */
export interface Tag {
  /** By their names, which HTML has in lower case. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly line: number;
}

/** These elements have text only, in which a `<` begins no tag: https://html.spec.whatwg.org/multipage/parsing.html */
const TEXT_ONLY = /^(script|style|textarea|title|xmp|iframe|noembed|noframes)$/;

/** Parts of a template that may have tags or quotes of their own: `<% … %>`, `<?php … ?>`, `{{ … }}`, `{% … %}`, `{# … #}`. */
const TEMPLATE = /<%.*?%>|<\?.*?(?:\?>|$)|\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}/sy;
const COMMENT = /<!--(?:>|->|.*?(?:--!?>|$))|<[!/][^>]*>?/sy;
const OPENING = /<([a-zA-Z][^\s/>]*)/y;
const SPACE = /[\s/]+/y;
const NAME = /[^\s/>=][^\s/>=]*/y;
const VALUE = /\s*=\s*(?:"([^"]*)"|'([^']*)'|(?=\{)|([^\s>"'{][^\s>]*))/y;

const take = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at;
  return pattern.exec(text);
};

/** The end of an expression in braces, as in Svelte, Astro and JSX. */
const endOfBraces = (text: string, from: number): number => {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '{') depth++;
    else if (text[at] === '}' && !--depth) return at + 1;
  }
  return text.length;
};

/** Reads the attributes of a tag, and finds its end. Without an end there is no tag. */
const readAttributes = (text: string, from: number): [Map<string, string>, end: number] | undefined => {
  const attributes = new Map<string, string>();
  let at = from;
  while (at < text.length) {
    if (text[at] === '>') return [attributes, at + 1];
    const skipped = take(SPACE, text, at) ?? take(TEMPLATE, text, at);
    if (skipped) {
      at += skipped[0].length;
      continue;
    }
    // `{...props}`
    if (text[at] === '{') {
      at = endOfBraces(text, at);
      continue;
    }
    const [name = text[at] as string] = take(NAME, text, at) ?? [];
    at += name.length;
    const value = take(VALUE, text, at);
    const start = at + (value?.[0].length ?? 0);
    const end = value && text[start] === '{' ? endOfBraces(text, start) : start;
    // The first of two attributes with one name counts.
    const key = name.toLowerCase();
    if (!attributes.has(key)) attributes.set(key, value?.[1] ?? value?.[2] ?? value?.[3] ?? text.slice(start, end));
    at = end;
  }
  return undefined;
};

/** All start tags of a text. */
export const tagsIn = (text: string): Tag[] => {
  const tags: Tag[] = [];
  let line = 1;
  let counted = 0;
  const lineAt = (at: number) => {
    for (; counted < at; counted++) if (text[counted] === '\n') line++;
    return line;
  };
  let at = 0;
  while (at < text.length) {
    const opening = take(OPENING, text, at);
    if (!opening) {
      const skipped = take(TEMPLATE, text, at) ?? take(COMMENT, text, at);
      const next = text.slice(at + 1).search(/[<{]/);
      at = skipped ? at + skipped[0].length : next < 0 ? text.length : at + 1 + next;
      continue;
    }
    const [whole, name = ''] = opening;
    const read = readAttributes(text, at + whole.length);
    if (!read) {
      at += whole.length;
      continue;
    }
    const [attributes, end] = read;
    tags.push({ attributes, line: lineAt(at) });
    const element = name.toLowerCase();
    const isText = TEXT_ONLY.test(element) && text[end - 2] !== '/';
    const close = isText ? text.slice(end).search(new RegExp(`</${element}[\\s/>]`, 'i')) : 0;
    at = close < 0 ? text.length : end + close;
  }
  return tags;
};

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** The text of an attribute, or `undefined` if a template or a less common name of a character makes a part of it. */
export const plainText = (value: string): string | undefined => {
  if (/[{}]|<[%?]|\$\(|@\(/.test(value)) return undefined;
  let isKnown = true;
  const text = value.replace(/&(?:#x([\da-f]+)|#(\d+)|([a-z][a-z\d]*));/gi, (_, hex, decimal, name) => {
    if (!name) return String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal));
    const known = NAMED[name];
    if (known === undefined) isKnown = false;
    return known ?? '';
  });
  return isKnown ? text : undefined;
};
