/**
 * Reads the tags of HTML and of templates such as Vue, Svelte, Astro, Jinja, PHP or ERB. The payload of a mark is on its own
 * element, so the tree around it is not needed. A parser of documents would reject or move the tags of a template.
 */

/** The attributes of an element with one name: one, or several of which a template chooses. */
export interface Written {
  readonly values: readonly string[];
  /** Whether a template may leave all of them out. */
  readonly isOptional: boolean;
}

/** An element's start tag. */
export interface Tag {
  /** By their names, which HTML has in lower case. */
  readonly attributes: ReadonlyMap<string, Written>;
  readonly line: number;
  /** The text of a `<script>`. */
  readonly script?: string | undefined;
}

/** These elements have text only, in which a `<` begins no tag: https://html.spec.whatwg.org/multipage/parsing.html */
const TEXT_ONLY = /^(script|style|textarea|title|xmp|iframe|noembed|noframes)$/;

/** Parts of a template that may have tags or quotes of their own: `<% … %>`, `<?php … ?>`, `{{ … }}`, `{% … %}`, `{# … #}`. */
const TEMPLATE = /<%.*?%>|<\?.*?(?:\?>|$)|\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}/sy;
const COMMENT = /<!--(?:>|->|.*?(?:--!?>|$))|<[!/][^>]*>?/sy;
const OPENING = /<([a-zA-Z][^\s/>]*)/y;
const SPACE = /[\s/]+/y;
const NAME = /[^\s/>=][^\s/>=]*/y;
const EQUALS = /\s*=\s*/y;
const UNQUOTED = /[^\s>"'{][^\s>]*/y;
/** A statement of a template, such as `{% if … %}`, `<% … do %>`, `<?php foreach … { ?>` or `{{#if …}}`. */
const BEGINS = /^(?:<%(?!=)|<\?(?!=)|\{%).*(?:\b(?:if|unless|for|foreach|each|case|while|with|do)\b|\{)|^\{\{~?[#^]/s;
const ENDS = /^(?:<%(?!=)|<\?(?:php|(?!=))|\{%)\W*(?:end|\})|^\{\{~?\//;

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

/** The end of a value in quotes, or -1. A part of a template may have quotes of its own: `href="<%= path("a") %>"`. */
const endOfQuotes = (text: string, from: number, quote: string): number => {
  for (let at = from; at < text.length; at++) {
    if (text[at] === quote) return at;
    const [part = ''] = text[at] === '<' || text[at] === '{' ? (take(TEMPLATE, text, at) ?? []) : [];
    if (part && !part.includes('\n')) at += part.length - 1;
  }
  return -1;
};

/** The value of an attribute whose name ends here, and its end. */
const readValue = (text: string, from: number): readonly [value: string, end: number] => {
  const start = from + (take(EQUALS, text, from)?.[0].length ?? 0);
  if (start === from) return ['', from];
  const quote = text[start];
  if (quote === '"' || quote === "'") {
    const end = endOfQuotes(text, start + 1, quote);
    return end < 0 ? ['', from] : [text.slice(start + 1, end), end + 1];
  }
  const [part] = take(TEMPLATE, text, start) ?? [];
  const end = quote === '{' ? endOfBraces(text, start) : start;
  const value = part ?? (end > start ? text.slice(start, end) : take(UNQUOTED, text, start)?.[0]);
  return value === undefined ? ['', from] : [value, start + value.length];
};

/** One more attribute. The first of two attributes with one name counts, unless a template chooses among them. */
const withAttribute = (known: Written | undefined, value: string, isOptional: boolean): Written => {
  if (!known) return { values: [value], isOptional };
  return known.isOptional ? { values: [...known.values, value], isOptional } : known;
};

/** Reads the attributes of a tag, and finds its end. Without an end there is no tag. */
const readAttributes = (text: string, from: number): [Map<string, Written>, end: number] | undefined => {
  const attributes = new Map<string, Written>();
  let at = from;
  /** The statements of a template that are open here. */
  let depth = 0;
  while (at < text.length) {
    if (text[at] === '>') return [attributes, at + 1];
    const [space] = take(SPACE, text, at) ?? [];
    const [part = ''] = space === undefined ? (take(TEMPLATE, text, at) ?? []) : [];
    if (ENDS.test(part)) depth--;
    if (BEGINS.test(part)) depth++;
    if (space || part) {
      at += (space ?? part).length;
      continue;
    }
    // `{...props}`
    if (text[at] === '{') {
      at = endOfBraces(text, at);
      continue;
    }
    const [name = text[at] as string] = take(NAME, text, at) ?? [];
    const [value, end] = readValue(text, at + name.length);
    const key = name.toLowerCase();
    attributes.set(key, withAttribute(attributes.get(key), value, depth > 0));
    at = end;
  }
  return undefined;
};

/** A text with the same line ends on all systems, as a browser reads it: https://infra.spec.whatwg.org/#normalize-newlines */
export const withoutReturns = (text: string): string => text.replace(/\r\n?/g, '\n');

/** All start tags of a text. */
export const tagsIn = (source: string): Tag[] => {
  const text = withoutReturns(source);
  const tags: Tag[] = [];
  let lines = 1;
  let counted = 0;
  const lineAt = (at: number) => {
    for (; counted < at; counted++) if (text[counted] === '\n') lines++;
    return lines;
  };
  let at = 0;
  // No tag ends after it.
  const last = text.lastIndexOf('>');
  while (at < last) {
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
    const line = lineAt(at);
    const element = name.toLowerCase();
    const isText = TEXT_ONLY.test(element) && text[end - 2] !== '/';
    const close = isText ? text.slice(end).search(new RegExp(`</${element}[\\s/>]`, 'i')) : 0;
    at = close < 0 ? text.length : end + close;
    tags.push({ attributes, line, ...(element === 'script' && { script: text.slice(end, at) }) });
  }
  return tags;
};

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** The character of a number, as a browser reads it. */
const character = (code: number): string => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd');

/** The text of an attribute with the names of its characters replaced, or `undefined` if one is less common. */
export const decoded = (value: string): string | undefined => {
  let isKnown = true;
  const text = value.replace(/&(?:#x([\da-f]+)|#(\d+)|([a-z][a-z\d]*));/gi, (_, hex, decimal, name) => {
    if (!name) return character(hex ? Number.parseInt(hex, 16) : Number(decimal));
    const known = NAMED[name];
    if (known === undefined) isKnown = false;
    return known ?? '';
  });
  return isKnown ? text : undefined;
};

/**
 * The text of an attribute, or `undefined` if a template or a less common name of a character makes a part of it.
 *
 * @param isRazor whether `@name` is a part of a template
 */
export const plainText = (value: string, isRazor = false): string | undefined => {
  if (/[{}]|<[%?]|\$\(|@\(/.test(value) || (isRazor && /(?<![\w@])@(?!@)/.test(value))) return undefined;
  const text = decoded(value);
  return isRazor ? text?.replaceAll('@@', '@') : text;
};
