// @module-tag promise
import { describe, expect, it } from 'vitest';
import { draftEvent } from '../../src/recorder/event.ts';
import { addContext, filter } from '../../src/recorder/prepare.ts';

/** The content of an event's text after a step, and the errors that were reported meanwhile. */
const outcomeOf = (step: ReturnType<typeof filter>, payload?: unknown) => {
  const draft = draftEvent(0, 'signup', JSON.stringify(payload));
  const told: unknown[] = [];
  const attempt = <T>(read: () => T): T | '' => {
    try {
      return read();
    } catch (error) {
      told.push(error);
      return '';
    }
  };
  const text = step(draft, draft, attempt);
  return { draft, text, told, event: text && JSON.parse(text) };
};

describe('context', () => {
  it('is added before the properties of an event', () => {
    const step = addContext(() => ({ release: '1', plan: 'none' }));
    expect(outcomeOf(step, { plan: 'pro' }).event.payload).toEqual({ release: '1', plan: 'pro' });
    expect(outcomeOf(step).event.payload).toEqual({ release: '1', plan: 'none' });
  });

  it.each([['text'], [7], [null], [false], [[1, 2]]])('does not change a payload without properties: %j', (payload) => {
    const { text, draft } = outcomeOf(
      addContext(() => ({ release: '1' })),
      payload,
    );
    expect(text).toBe(draft);
  });

  it.each([
    () => {
      throw new Error('broken');
    },
    () => ({ big: 1n }),
  ])('that fails is reported, and the event is sent without it: %s', (context) => {
    const { text, draft, told } = outcomeOf(addContext(context), { plan: 'pro' });
    expect(text).toBe(draft);
    expect(told).toHaveLength(1);
  });

  it('keeps an own property named __proto__', () => {
    const { text } = outcomeOf(
      addContext(() => ({ a: 1 })),
      JSON.parse('{"__proto__":{"b":2}}'),
    );
    expect(text).toContain('"payload":{"a":1,"__proto__":{"b":2}}');
  });
});

describe('beforeSend', () => {
  it('changes name and payload, and nothing else', () => {
    const { event, draft } = outcomeOf(
      filter((given) => ({ ...given, event: 'renamed', payload: 7, uuid: 'other', source: 'other' })),
      { plan: 'pro' },
    );
    expect(event).toEqual({ ...JSON.parse(draft), event: 'renamed', payload: 7 });
  });

  it('keeps id and time in their place in the text', () => {
    const { text, draft } = outcomeOf(
      filter((event) => event),
      { plan: 'pro' },
    );
    expect(text).toBe(draft);
  });

  it('gets a copy that it may change', () => {
    const payload = { list: [1] };
    const { event } = outcomeOf(
      filter((given) => {
        (given.payload as typeof payload).list.push(2);
        return given;
      }),
      payload,
    );
    expect(event.payload).toEqual({ list: [1, 2] });
    expect(payload).toEqual({ list: [1] });
  });

  it.each([null, undefined])('drops an event if it returns %s', (nothing) => {
    expect(outcomeOf(filter(() => nothing)).text).toBe('');
  });

  it.each([
    Promise.resolve({ event: 'a' }),
    { event: '' },
    { event: '$identify', payload: { distinct_id: 'ann' } },
    { event: 7 },
    {},
    'signup',
    true,
  ])('that returns %j is reported, since that is no event', (returned) => {
    expect(() => outcomeOf(filter(() => returned as never))).toThrow('beforeSend: expected an event');
  });

  it('throws its own error, and one for a payload that JSON cannot express', () => {
    const throwing = () => {
      throw new Error('broken');
    };
    expect(() => outcomeOf(filter(throwing))).toThrow('broken');
    expect(() => outcomeOf(filter(() => ({ event: 'a', payload: 1n })))).toThrow(TypeError);
  });
});
