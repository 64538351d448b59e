/** How far the visitor is with a form. */
export interface Filling {
  /** When the visitor began, in ms. */
  readonly at: number;
  /** Whether the form was submitted, and no error has followed. */
  readonly isSubmitted: boolean;
  /** The field that was changed last. */
  readonly field?: string | undefined;
  /** Fields whose errors were tracked since the last attempt to submit. */
  readonly errors: readonly string[];
}

/**
 * An observation of a form.
 *
 * - `attempt`: the visitor presses the button that submits it.
 * - `refused`: the browser does not submit it.
 */
export type FormFact =
  | { readonly kind: 'input'; readonly field: string | undefined }
  | { readonly kind: 'errors'; readonly fields: readonly string[] }
  | { readonly kind: 'attempt' | 'refused' | 'submit' | 'leave' };

/** An event that is due: its name and its properties. */
export type Due = readonly [event: string, properties: object];

export const STARTED = 'form_started';
export const ABANDONED = 'form_abandoned';

const newFilling = (at: number): Filling => ({ at, isSubmitted: false, errors: [] });

/** The event of a started form, unless the visitor has started it already. */
const startOf = (before: Filling | undefined, field?: string): Due[] => (before ? [] : [[STARTED, { field }]]);

const endOf = (event: string, { at, field }: Filling, now: number): Due => [
  event,
  { field, duration: Math.round(now - at) },
];

/** The form after a fact, and the events that the fact makes. `undefined` is a form that the visitor has not begun. */
export const fill = (
  before: Filling | undefined,
  fact: FormFact,
  now: number,
): readonly [Filling | undefined, readonly Due[]] => {
  const begun = before ?? newFilling(now);
  switch (fact.kind) {
    case 'input': {
      const { field } = fact;
      const open = before?.isSubmitted ? undefined : before;
      return [{ ...(open ?? newFilling(now)), field }, startOf(open, field)];
    }
    case 'errors': {
      // Apps also mark empty fields as they show the form.
      if (!before) return [before, []];
      const fields = fact.fields.filter((field) => !before.errors.includes(field));
      if (!fields[0]) return [before, []];
      return [{ ...before, isSubmitted: false, errors: [...before.errors, ...fields] }, [['form_error', { fields }]]];
    }
    case 'attempt':
      return [before && { ...before, errors: [] }, []];
    case 'refused':
      return [begun, startOf(before)];
    case 'submit': {
      const submitted = { ...begun, isSubmitted: true, errors: [] };
      return [submitted, [...startOf(before), endOf('form_submitted', begun, now)]];
    }
    case 'leave':
      return [undefined, before && !before.isSubmitted ? [endOf(ABANDONED, before, now)] : []];
  }
};
