// @module-tag promise
import { expect, it } from 'vitest';
import { renewTokens } from '../../src/courier/renewTokens.ts';
import { draftEvent, draftUpsert, type ItemText, stamp } from '../../src/recorder/event.ts';

const upsertOf = (primary_key: string, plan: string, signature: string): ItemText =>
  stamp(draftUpsert({ plan }), { primary_key, signature });
const plansOf = (items: readonly ItemText[]) =>
  items.map((text) => JSON.parse(text).properties?.plan ?? JSON.parse(text).event);

it('a customer’s newer properties wait for older ones whose token is renewed, and nothing else does', async () => {
  let answer = (_token: string) => {};
  const asked = new Promise<string>((resolve) => {
    answer = resolve;
  });
  const [ready, withoutExpired] = renewTokens(() => asked)(
    () => {},
    () => {},
    () => {},
  );
  const old = upsertOf('ann', 'old', 'expired');
  const seen = stamp(draftEvent(Date.now(), 'seen'), { correlationValue: 'ann' });
  const items = [old, upsertOf('ann', 'new', 'valid'), seen, upsertOf('ben', 'other', 'valid')];
  withoutExpired([old], { outcome: 'rejected', status: 422, message: '422 signature: token-expired' });
  expect(plansOf(ready(items))).toEqual(['seen', 'other']);
  answer('renewed');
  await asked;
  await Promise.resolve();
  expect(plansOf(ready(items))).toEqual(['old', 'new', 'seen', 'other']);
});
