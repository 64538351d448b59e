import { expect, it } from 'vitest';

let attempts = 0;
it('passes only after a retry', { retry: 2 }, () => expect(++attempts).toBe(2));
it('passes at once', { retry: 2 }, () => expect(1).toBe(1));
