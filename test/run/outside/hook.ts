import { afterAll, expect, it } from 'vitest';

it('fails', () => expect(1).toBe(2));
afterAll(() => {
  throw new Error('a hook');
});
