import type { TrackedEvent } from './prepare.js';

/** The part of https://standardschema.dev that clew uses. Zod, Valibot, ArkType and others implement it. */
export interface StandardSchema {
  readonly '~standard': {
    /** Returns the issues of a value. */
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
  };
}

interface StandardResult {
  /** The issues of the value. Missing if the value is valid. */
  readonly issues?: readonly StandardIssue[] | undefined;
}

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

const described = ({ message, path = [] }: StandardIssue): string => {
  const place = path.map((step) => `.${String(typeof step === 'object' ? step.key : step)}`).join('');
  return `payload${place}: ${message}`;
};

/** The faults that a schema finds in a payload, for people. */
const faultsOf = (schema: StandardSchema, payload: unknown): string[] => {
  try {
    const result = schema['~standard'].validate(payload);
    if (!('then' in result)) return (result.issues ?? []).map(described);
    // An asynchronous schema returns a promise. A rejection is handled here, because clew does not wait for the promise.
    result.then(undefined, () => {});
    return ['expected a synchronous schema, not an asynchronous one'];
  } catch (error) {
    return [`the schema threw ${error}`];
  }
};

/**
 * Creates a `beforeSend` for development, which reports payloads that do not match the schema of their event. A schema sees the
 * payload that the app passed, without the properties of `context`. The function changes no event, and does not check events
 * without a schema. If a bundler can evaluate the condition, it leaves the function out of
 * production.
 *
 * @param schemas synchronous schemas by the event's name, from any library that implements Standard Schema
 * @param report receives each issue. The default is `console.error`. If it throws, clew drops the event as `filtered`.
 * @example
 * beforeSend: import.meta.env.DEV ? checkEvents({ signup: z.object({ plan: z.string() }) }) : undefined
 */
export const checkEvents =
  (
    schemas: Readonly<Record<string, StandardSchema>>,
    report: (message: string) => void = console.error,
  ): ((event: TrackedEvent, passed?: () => unknown) => TrackedEvent) =>
  (tracked, passed = () => tracked.payload) => {
    const { event } = tracked;
    const schema = Object.hasOwn(schemas, event) && schemas[event];
    if (schema) for (const fault of faultsOf(schema, passed())) report(`clew: ${event}: ${fault}`);
    return tracked;
  };
