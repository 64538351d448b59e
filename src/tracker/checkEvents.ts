import type { TrackedEvent } from './prepare.js';

/** What is used of https://standardschema.dev, which Zod, Valibot, ArkType and others implement. */
export interface StandardSchema {
  readonly '~standard': {
    /** Says what is wrong with a value. */
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
  };
}

interface StandardResult {
  /** What is wrong; nothing if it is left out. */
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

/** What a schema finds wrong with a payload, for people. */
const faultsOf = (schema: StandardSchema, payload: unknown): string[] => {
  try {
    const result = schema['~standard'].validate(payload);
    if (!('then' in result)) return (result.issues ?? []).map(described);
    // Whatever it finds, nobody waits for it.
    result.then(undefined, () => {});
    return ['expected a schema that answers at once, not one that is asynchronous'];
  } catch (error) {
    return [`the schema has thrown ${error}`];
  }
};

/**
 * A `beforeSend` for development: says which payloads do not match the schema of their event, and lets every event pass as it is.
 * Events without a schema are not looked at. Chosen by a condition that a bundler knows, it costs nothing in production.
 *
 * @param schemas by the event's name, of any library that implements Standard Schema; asynchronous ones are refused
 * @param report hears what is wrong; if it throws, the event is dropped as `filtered`
 * @example beforeSend: import.meta.env.DEV ? checkEvents({ signup: z.object({ plan: z.string() }) }) : undefined
 */
export const checkEvents =
  (
    schemas: Readonly<Record<string, StandardSchema>>,
    report: (message: string) => void = console.error,
  ): ((event: TrackedEvent) => TrackedEvent) =>
  (tracked) => {
    const { event, payload } = tracked;
    const schema = Object.hasOwn(schemas, event) && schemas[event];
    if (schema) for (const fault of faultsOf(schema, payload)) report(`clew: ${event}: ${fault}`);
    return tracked;
  };
