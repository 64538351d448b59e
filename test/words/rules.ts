import { commentsOf } from './comments.ts';
import { proseOfForm } from './forms.ts';
import { CODE, type Passage } from './passage.ts';
import { proseOf } from './prose.ts';
import { titlesOf } from './titles.ts';

/** A place where a page or a title breaks a rule. */
export interface Fault {
  line: number;
  found: string;
  expected: string;
}

const MOST_WORDS = 25;
const MOST_WORDS_IN_TITLE = 18;
const BAD_TITLE_OPENING = /^\P{L}*(what|who|whoever|nor)\b/iu;
/** A sentence names its subject. */
const BAD_OPENING = /^\P{L}*(what|who|whoever|of|nor|it|its|they|their|them)\b/iu;

/**
 * Words that the project does not use, and the words that it uses. A word with a good sense is banned with the neighbours of
 * its bad sense only.
 */
export const BANNED: readonly [pattern: RegExp, instead: string][] = [
  [/\b(tell|tells|told|telling)\b/i, '"report", "log", "emit" or "show"'],
  [/\b(hear|hears|heard|hearing)\b/i, '"receive", "read" or "learn from"'],
  [/\b(say|says|said|saying)\b/i, '"state", "show", "log" or "for example"'],
  [/\b(believe|believes|believed|believing)\b/i, '"trust" or "accept"'],
  [/\b(spoil|spoils|spoiled|spoilt|spoiling)\b/i, '"reject", "break" or "affect"'],
  [/\b(mend|mends|mended|mending)\b/i, '"fix"'],
  [/\b(becomes?|became|becoming) of\b/i, '"happens to"'],
  [/\bways?\b/i, '"path", "route" or "how"'],
  [/\b(fares?|fared|faring)\b/i, '"does" or "behaves"'],
  [/(?<!\b(main|worker)[ -]|\bball of )\bthreads?\b/i, '"visitor id"'],
  [/\banswered for\b/i, '"confirmed"'],
  [/\b(has|have|had) (not )?(yet )?come\b/i, '"is loaded" or "has arrived"'],
  [/\bcarr(y|ies|ied|ying)\b[^.]*\b(journal|localStorage|CODE)\b[^.]*\buntil\b/i, '"keep in the journal"'],
  [/\bcarr(y|ies|ied|ying) (in|into) (the journal|localStorage)\b/i, '"keep in the journal"'],
  [/\bsomebody\b/i, '"a customer" or "a person"'],
  [/\bonce more\b/i, '"again" or "retry"'],
  [/\b(a|an|the|each|every|no|any) repeats?\b/i, '"retry" or "duplicate"'],
  [/\b(what|all that) waits\b/i, '"the queue"'],
  [/\bsearch(es)? for (a|an|the) (\w+ )?event\b/i, '"bisect"'],
  [/\b(page|tab|visitor)s? (that |which )?go(es)?\b/i, '"unload" or "leave"'],
  [/\brights it\b/i, '"fixes it"'],
  [/\b((any|every|no)body|no one)\b/i, 'the actor: "clew never …", "no tab", "the page cannot …"'],
  [/\b(hard|easy) to (make|lose)\b/i, 'the fact: "events survive …"'],
  [/, nor\b/i, 'two sentences for "nor"'],
  [/\bthe ones? (that|who|whom|which)\b/i, 'the noun in place of "the one"'],
  [/\bspeaks? for\b/i, '"impersonates" or "represents"'],
  [/\b(forgotten|kept|held) by the\b/i, 'the actor first'],
  [/\bholds? up\b/i, '"blocks"'],
  [/\bcannot be meant\b/i, '"invalid"'],
  [/\b(behind|all|than|of) what\b/i, 'the noun in place of "what"'],
  [/\b(required|optional), but with\b/i, '"required unless …"'],
  [/\bnot without\b/i, 'a positive statement for two negatives'],
  [/\b(not|never)( \w+)? (nobody|nothing|none|nowhere)\b|\bnothing (is|does) not\b/i, 'one negative'],
  [/\bnot (un(available|common|known|like|reasonable|usual)|impossible)\b/i, 'one negative'],
];

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const wordsIn = (sentence: string): number =>
  sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word.replaceAll(CODE, ''))).length;
const beginningOf = (sentence: string): string => {
  const text = sentence.trim().replaceAll(CODE, '`…`');
  return text.length > 50 ? `${text.slice(0, 49)}…` : text;
};

const bannedIn = ({ text, lineAt }: Passage): Fault[] =>
  BANNED.flatMap(([pattern, expected]) =>
    [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map(({ 0: word, index }) => ({
      line: lineAt(index),
      found: `"${word}"`,
      expected,
    })),
  );

const lengthFaults = (sentence: string, line: number, most = MOST_WORDS, kind = 'sentence'): Fault[] => {
  const words = wordsIn(sentence);
  const expected = `at most ${most} words in a ${kind}`;
  return words > most ? [{ line, found: `${words} words in "${beginningOf(sentence)}"`, expected }] : [];
};

/** Rules of sentences. The phrase in a cell of a table has its length only. */
const formFaults = (sentence: string, line: number): Fault[] => {
  const found = `"${beginningOf(sentence)}"`;
  const faults: Fault[] = [];
  const [opening] = BAD_OPENING.exec(sentence) ?? [];
  if (opening) faults.push({ line, found, expected: `a sentence that does not open with "${opening}"` });
  if (sentence.includes(';')) faults.push({ line, found, expected: 'two sentences for a semicolon' });
  if ((sentence.match(/:(?=\s|$)/g) ?? []).length > 1)
    faults.push({ line, found, expected: 'at most one colon in a sentence' });
  return faults;
};

const sentenceFaults = ({ text, isCell, lineAt }: Passage): Fault[] =>
  // The segmenter ends no sentence before a small letter, which begins the name.
  [...sentences.segment(text.replace(/([.!?] )clew\b/g, '$1Clew'))].flatMap(({ segment, index }) => {
    const line = lineAt(index);
    return [...lengthFaults(segment, line), ...(isCell ? [] : formFaults(segment, line))];
  });

const faultsIn = (passages: readonly Passage[]): Fault[] =>
  passages.flatMap((passage) => [...bannedIn(passage), ...sentenceFaults(passage)]).toSorted((a, b) => a.line - b.line);

/** Where a Markdown page breaks the rules of how the project writes, in the order of its lines. */
export const faultsOf = (markdown: string): Fault[] => faultsIn(proseOf(markdown));

/** The same for a form of GitHub, in YAML. */
export const formFaultsOf = (yaml: string): Fault[] => faultsIn(proseOfForm(yaml));

/** Where the comments of a source break the rules, in the order of its lines. */
export const commentFaultsOf = (source: string, path: string): Fault[] => faultsIn(commentsOf(source, path));

/**
 * Where the titles of a file of tests break the rules, in the order of its lines. A title may open with "of", since it continues
 * the title around it.
 */
export const titleFaultsOf = (source: string): Fault[] =>
  titlesOf(source).flatMap((title) => {
    const { text, lineAt } = title;
    const line = lineAt(0);
    const found = `"${beginningOf(text)}"`;
    const faults = [...bannedIn(title), ...lengthFaults(text, line, MOST_WORDS_IN_TITLE, 'title')];
    if (BAD_TITLE_OPENING.test(text)) faults.push({ line, found, expected: 'a title that names the subject first' });
    if (text.includes(';')) faults.push({ line, found, expected: 'a title of one sentence' });
    return faults;
  });
