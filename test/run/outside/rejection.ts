import { setTimeout as pause } from 'node:timers/promises';
import { it } from 'vitest';

it('passes and leaves a rejection', async () => {
  setTimeout(() => void Promise.reject(new Error('nobody awaits it')), 0);
  await pause(50);
});
