/** A paragraph, a heading, a cell of a table, or a text of HTML, as a reader sees it. */
export interface Passage {
  isCell: boolean;
  /** With a space for each line break, since `Intl.Segmenter` ends a sentence there, and `CODE` for inline code. */
  text: string;
  /** The line of the page that a character of `text` is on. */
  lineAt(index: number): number;
}

/** Stands for inline code, which is not prose. In capitals, since `Intl.Segmenter` ends no sentence before a small letter. */
export const CODE = 'CODE';
