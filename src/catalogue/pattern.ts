/** Any text within a template literal type. */
export const ANY_TEXT = '[\\s\\S]*';
/** A number within a template literal type, to which TypeScript also assigns `+5`, `5.` and `.5`. */
export const ANY_NUMBER = '[+-]?(\\d+(\\.\\d*)?|\\.\\d+)([eE][+-]?\\d+)?';

/** A whole number within a template literal type. */
export const WHOLE_NUMBER = '-?\\d+';

/** A character of no text. */
const OPEN = '\ue000';

/** The text of a pattern, with a character in each open place that only "any text" matches. */
export const sampleOf = (pattern: string): string =>
  [ANY_TEXT, ANY_NUMBER, WHOLE_NUMBER]
    .reduce((text, part) => text.replaceAll(part, OPEN), pattern.slice(1, -1))
    .replace(/\\(.)/gs, '$1');

/** A number beside any text: the text takes all of it but one digit, and a point or a sign of that. */
const trimmed = (piece: string, atStart: boolean, atEnd: boolean): string => {
  const start = atStart && piece.startsWith(ANY_NUMBER) ? `\\d\\.?${piece.slice(ANY_NUMBER.length)}` : piece;
  return atEnd && start.endsWith(ANY_NUMBER) ? `${start.slice(0, -ANY_NUMBER.length)}[+-]?\\.?\\d` : start;
};

/**
 * Makes the expression of a pattern. With several texts of any length, an engine would try all lengths of each, which takes minutes for
 * a text of an attacker. The first place of a piece is as good as any later one, so a look-ahead keeps it.
 */
export const expressionOf = (pattern: string): RegExp => {
  const pieces = pattern.split(ANY_TEXT);
  const last = pieces.length - 1;
  const source = pieces.map((piece, at) => {
    const own = trimmed(piece.replace(at === last ? /\$$/ : '', ''), at > 0, at < last);
    if (!at) return own;
    return at < last ? `(?=(?<p${at}>[\\s\\S]*?${own}))\\k<p${at}>` : `${ANY_TEXT}${own}$`;
  });
  return new RegExp(last ? source.join('') : pattern, 'u');
};

/** Numbers without a text between them. */
const ADJACENT = ANY_NUMBER + ANY_NUMBER;
const expressions = new Map<string, RegExp>();

/** Whether a text has the pattern. Patterns come from a catalogue that the site's own build has made. */
export const matches = (pattern: string, text: string): boolean => {
  // An engine would try all lengths of both numbers.
  if (text.length > 1000 && pattern.includes(ADJACENT)) return true;
  const known = expressions.get(pattern) ?? expressionOf(pattern);
  expressions.set(pattern, known);
  return known.test(text);
};
