import { expect, it } from 'vitest';
import { type Due, type Filling, type FormFact, fill } from '../../src/plugins/form.ts';

/** Names and properties of all events that these facts make, a second apart. */
const eventsOf = (...facts: FormFact[]): Due[] => {
  let filling: Filling | undefined;
  return facts.flatMap((fact, i) => {
    const [next, due] = fill(filling, fact, 1000 * i);
    filling = next;
    return due;
  });
};
const input = (field: string) => ({ kind: 'input', field }) as const;
const errors = (...fields: string[]) => ({ kind: 'errors', fields }) as const;
const attempt = { kind: 'attempt' } as const;
const refused = { kind: 'refused' } as const;
const submit = { kind: 'submit' } as const;
const leave = { kind: 'leave' } as const;
const started = (field?: string): Due => ['form_started', { field }];

it.each<[string, FormFact[], Due[]]>([
  [
    'a form that is filled in and submitted',
    [input('name'), input('name'), input('email'), attempt, submit, leave],
    [started('name'), ['form_submitted', { field: 'email', duration: 4000 }]],
  ],
  [
    'a form that is left',
    [input('name'), input('email'), leave, leave],
    [started('name'), ['form_abandoned', { field: 'email', duration: 2000 }]],
  ],
  ['a form that is not begun', [attempt, leave], []],
  ['a form that is shown with errors', [errors('email'), leave], []],
  [
    'a form that is only submitted',
    [submit, leave],
    [started(), ['form_submitted', { field: undefined, duration: 0 }]],
  ],
  [
    'errors, each field once for an attempt',
    [input('name'), errors('email', 'zip'), errors('zip'), errors('zip', 'city'), attempt, errors('zip')],
    [
      started('name'),
      ['form_error', { fields: ['email', 'zip'] }],
      ['form_error', { fields: ['city'] }],
      ['form_error', { fields: ['zip'] }],
    ],
  ],
  [
    'errors of an empty form that the browser does not submit',
    [attempt, refused, refused, errors('email'), leave],
    [started(), ['form_error', { fields: ['email'] }], ['form_abandoned', { field: undefined, duration: 3000 }]],
  ],
  [
    'a form with errors after it was submitted, which is then left',
    [input('email'), submit, errors('email'), leave],
    [
      started('email'),
      ['form_submitted', { field: 'email', duration: 1000 }],
      ['form_error', { fields: ['email'] }],
      ['form_abandoned', { field: 'email', duration: 3000 }],
    ],
  ],
  [
    'a form that is filled in again',
    [input('a'), submit, input('b'), submit],
    [
      started('a'),
      ['form_submitted', { field: 'a', duration: 1000 }],
      started('b'),
      ['form_submitted', { field: 'b', duration: 1000 }],
    ],
  ],
])('%s', (_title, facts, events) => {
  expect(eventsOf(...facts)).toEqual(events);
});
