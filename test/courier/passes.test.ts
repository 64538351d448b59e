// @module-tag promise
import { expect, it, vi } from 'vitest';
import { createPasses } from '../../src/courier/passes.ts';

it('a pass that a flush has forced stays forced when an ordinary flush shares it', async () => {
  const run = vi.fn(async (_isForced: boolean) => {});
  const { flush } = createPasses(run);
  await Promise.all([flush(true), flush()]);
  expect(run.mock.calls).toEqual([[true]]);
});

it('a forced pass is followed by an ordinary one', async () => {
  const run = vi.fn(async (_isForced: boolean) => {});
  const { flush } = createPasses(run);
  await flush(true);
  await flush();
  expect(run.mock.calls).toEqual([[true], [false]]);
});
