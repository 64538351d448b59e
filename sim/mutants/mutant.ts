/** One change of the source that breaks clew. */
export interface Mutant {
  /** The broken behaviour, as a sentence whose subject is the broken clew. */
  readonly name: string;
  /** The file below `src`. */
  readonly file: string;
  /** The text to replace, which occurs once in the file. */
  readonly find: string;
  readonly replace: string;
}
