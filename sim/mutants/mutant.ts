/** One way to break the product. */
export interface Mutant {
  /** A sentence that says what the broken product does. */
  readonly name: string;
  /** The file below `src`. */
  readonly file: string;
  /** The text to replace. It occurs once in the file. */
  readonly find: string;
  readonly replace: string;
}
