import { blocksOf, read } from '../../test/docs/markdown.ts';

/** The steps of a quick start, and the text that its reader sees. */
export interface QuickStart {
  /** The oldest Node that the page names. */
  readonly node: string;
  /** Commands that make the app, for a shell in an empty folder. */
  readonly commands: string;
  /** Files that the reader writes, by their path in the app. */
  readonly files: Readonly<Record<string, string>>;
  /** Commands that go on, each in a terminal of its own. */
  readonly servers: readonly string[];
  /** The text that a terminal shows after the click. */
  readonly shown: RegExp;
}

const nameIn = (text: string) => /^(?:\/\/|<!--) (\S+\.\w+)(?: -->)?\n/.exec(text)?.[1];

/** Text with `…` for what differs, as a pattern. The page view of a script tag may be in the same batch. */
const patternOf = (text: string) =>
  new RegExp(
    text
      .split('…')
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('[^\\n]*')
      .replace('"batch":\\[', '$&[^\\n]*'),
  );

/** Reads a quick start, and throws for a block of code that the test would leave out. */
export const readQuickStart = (page: string): QuickStart => {
  const text = read(page);
  const files: Record<string, string> = {};
  const others: Record<string, string[]> = { sh: [], text: [] };
  for (const block of blocksOf(page)) {
    const name = nameIn(block.text);
    const list = others[block.lang];
    if (name) files[name] = block.text;
    else if (list) list.push(block.text);
    else throw new Error(`${page}:${block.line}: the block is neither a file nor a command`);
  }
  const node = /Node (\d+(?:\.\d+)*) or newer/.exec(text)?.[1];
  const [shown, ...more] = others.text ?? [];
  if (!node || !shown || more[0]) throw new Error(`${page}: expected a version of Node and one block of text`);
  const run = /^Run .*$/m.exec(text)?.[0] ?? '';
  return {
    node,
    commands: (others.sh ?? []).join('\n'),
    files,
    servers: [...run.matchAll(/`((?:node|npm|npx) [^`]+)`/g)].map(([, command]) => command ?? ''),
    shown: patternOf(shown),
  };
};
