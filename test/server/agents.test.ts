import { expect, it } from 'vitest';
import { agentOptions } from '../../src/server/agents.ts';

it('the fields of an unknown browser have at most 50 characters', async () => {
  const { userAgent } = await agentOptions({ isParsed: true, bots: 'forward' });
  const fields = userAgent?.(`${'a'.repeat(900)}/${'1'.repeat(90)}.0 y`) ?? {};
  expect(fields).toMatchObject({ browser: 'a'.repeat(50) });
  for (const value of Object.values(fields)) expect(String(value ?? '').length).toBeLessThanOrEqual(50);
});
