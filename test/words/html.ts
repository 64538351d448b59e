import { CODE, type Passage } from './passage.ts';

/** Comments, code and addresses in HTML are not prose. */
const NO_PROSE = /<!--[\s\S]*?-->|<(pre|script|style)\b[\s\S]*?<\/\1>/gi;
const TAG = /<(\/?[a-z][\w-]*)(?:"[^"]*"|'[^']*'|[^"'>])*>/gi;
/** Tags inside a sentence. */
const INLINE = /^\/?(a|abbr|b|br|code|em|i|img|kbd|small|span|strong|sub|sup)$/i;
/** Attributes that a browser shows or reads to the visitor. */
const SHOWN = /\s(?:alt|aria-label|title)\s*=\s*(?:"([^"]*)"|'([^']*)')/gi;

const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');
const decode = (text: string): string => text.replaceAll(/&[#\w]+;/g, '…');
const linesIn = (text: string): number => text.split('\n').length - 1;

/** One passage for each stretch of text, on the line where it begins. */
const passageAt = (text: string, line: number): Passage => {
  const start = line + linesIn(/^\s*/.exec(text)?.[0] ?? '');
  const prose = decode(text).trim();
  return {
    isCell: false,
    text: prose.replaceAll('\n', ' '),
    lineAt: (index) => start + linesIn(prose.slice(0, index)),
  };
};

/** The texts of the attributes that a visitor sees, in HTML that begins on `line`. */
export const attributesIn = (html: string, line: number): Passage[] => {
  const code = html.replaceAll(NO_PROSE, blank);
  return [...code.matchAll(TAG)].flatMap((tag) =>
    [...tag[0].matchAll(SHOWN)].map(({ 1: double, 2: single, index }) =>
      passageAt(double ?? single ?? '', line + linesIn(code.slice(0, tag.index + index + 1))),
    ),
  );
};

/** The text between the tags of a block of HTML that begins on `line`. */
export const textsIn = (html: string, line: number): Passage[] => {
  const SPLIT = '\0';
  const text = html
    .replaceAll(NO_PROSE, blank)
    .replaceAll(/<code\b[^>]*>[^<]*<\/code>/gi, CODE)
    .replaceAll(TAG, (tag, name: string) => '\n'.repeat(linesIn(tag)) + (INLINE.test(name) ? '' : SPLIT));
  let at = line;
  return text.split(SPLIT).flatMap((stretch) => {
    const start = at;
    at += linesIn(stretch);
    return stretch.trim() ? [passageAt(stretch, start)] : [];
  });
};
