import { payloadOf } from '../page/clicks.js';
import { boundIn, callsIn } from './calls.js';
import { decoded, plainText, type Tag, type Written } from './html.js';

/** The values that a property of a mark may have. `undefined`: any text. */
export type Values = readonly string[] | undefined;

/** Everything that an element's `data-clew-` attributes track, or a call in HTML. */
export interface Mark {
  /** The file and the line. */
  readonly place: string;
  /** `event`: `data-clew-event`. `form`: `data-clew-form`, for the plugin `forms`. `call`: a call, with any payload. */
  readonly kind: 'event' | 'form' | 'call';
  /** The names of the event, or of the form. */
  readonly names: Values;
  readonly properties: ReadonlyMap<string, Values>;
  /** Properties whose attribute may be missing. */
  readonly optional: ReadonlySet<string>;
}

/** One attribute: its values, and whether it may be missing. */
export interface Attribute {
  readonly values: Values;
  readonly isOptional?: boolean | undefined;
}

const PREFIX = /^data-clew-./;

/** `data-clew-plan-name` is `clewPlanName`: https://html.spec.whatwg.org/multipage/dom.html#dom-dataset */
const keyOf = (name: string): string =>
  name.slice('data-'.length).replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());

/** The marks of an element: it may be a form of the plugin `forms`, and have an event, too. */
export const marksOf = (attributes: ReadonlyMap<string, Attribute>, place: string): Mark[] => {
  const own = [...attributes]
    .filter(([name]) => PREFIX.test(name))
    .map(([name, value]) => [keyOf(name), value] as const);
  const byKey = new Map(own);
  // The names that the plugins give, from the same function: each key is the value here.
  const names = Object.entries(payloadOf(Object.fromEntries(own.map(([key]) => [key, key]))) as Record<string, string>);
  const properties = new Map(names.map(([name, key]) => [name, byKey.get(key)?.values]));
  const optional = new Set(names.filter(([, key]) => byKey.get(key)?.isOptional).map(([name]) => name));
  return (['event', 'form'] as const).flatMap((kind) => {
    const mark = byKey.get(kind === 'event' ? 'clewEvent' : 'clewForm');
    // An empty mark marks nothing.
    if (!mark || mark.values?.every((value) => !value)) return [];
    return [{ place, kind, names: mark.values?.filter(Boolean), properties, optional }];
  });
};

/** `:data-clew-plan` (Vue, Alpine), `v-bind:…`, `x-bind:…` and `[attr.data-clew-plan]` (Angular). */
const BOUND = /^(?::|v-bind:|x-bind:|\[attr\.|bind:|@)(data-clew-[^\].]+)/;

/** One attribute of HTML. */
const attributeOf = ({ values, isOptional }: Written, isBound: boolean, isRazor: boolean): Attribute => {
  const texts = values.map((value) => (isBound ? /^\s*'([^'\\]*)'\s*$/.exec(value)?.[1] : plainText(value, isRazor)));
  const known = texts.filter((text) => text !== undefined);
  // A bound attribute may be null.
  const isNull = isBound && known.length < texts.length;
  return { values: known.length < texts.length ? undefined : [...new Set(known)], isOptional: isOptional || isNull };
};

/** The calls of an element: in `onclick` and the like, in Vue's `v-clew`, and in its script. */
const callsOf = ({ attributes, script = '' }: Tag): Values[] => {
  const calls = [...attributes].flatMap(([name, { values }]) =>
    values.flatMap((value) => {
      const text = decoded(value) ?? value;
      return /^v-clew(?![^:.])/.test(name) ? [boundIn(text)] : callsIn(text);
    }),
  );
  return [...calls, ...callsIn(script)];
};

/** The marks and calls of a file with HTML. */
export const marksInTags = (tags: readonly Tag[], file: string): Mark[] =>
  tags.flatMap((tag) => {
    const place = `${file}:${tag.line}`;
    const read = new Map<string, Attribute>();
    for (const [name, written] of tag.attributes) {
      const bound = BOUND.exec(name)?.[1];
      read.set(bound ?? name, attributeOf(written, bound !== undefined, /\.(cshtml|razor)$/i.test(file)));
    }
    const none = { properties: new Map(), optional: new Set<string>() };
    const calls = callsOf(tag).map((names): Mark => ({ place, kind: 'call', names, ...none }));
    return [...marksOf(read, place), ...calls];
  });
