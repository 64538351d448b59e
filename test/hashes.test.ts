import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { printedHashes } from '../e2e/support/hashes.ts';

const read = (file: string) => readFile(join(import.meta.dirname, '../dist', file), 'utf8');
const digest = (kind: string, text: string) => `${kind}-${createHash(kind).update(text).digest('base64')}`;

it('the build logs the hash of the pasted stub and the integrity of clew.js', async () => {
  const { stub, integrity } = await printedHashes();
  expect(stub).toBe(digest('sha256', await read('stub.js')));
  expect(integrity).toBe(digest('sha384', await read('clew.js')));
});

it('the stub is safe to paste into HTML, Liquid and tag managers, and survives editors', async () => {
  expect(await read('stub.js')).not.toMatch(/^\s|[\n\r]|\s$|<\/script|<!--|\{\{|\{%/i);
});
