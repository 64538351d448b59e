import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSignatureCheck } from '../../src/relay/signature.ts';
import { signPrimaryKey } from '../../src/relay.ts';

const docs = join(import.meta.dirname, '../../docs');
const VECTORS = join(docs, 'signing/vectors.json');
const read = (path: string) => readFileSync(join(docs, path), 'utf8');
const vectors: { title: string; secret: string; primaryKey: string; signature: string }[] = JSON.parse(
  readFileSync(VECTORS, 'utf8'),
);

const EXAMPLES = [
  { file: 'node.mjs', run: [process.execPath], version: [process.execPath, '--version'] },
  { file: 'sign.py', run: ['python3'], version: ['python3', '--version'] },
  { file: 'sign.rb', run: ['ruby'], version: ['ruby', '--version'] },
  { file: 'sign.php', run: ['php'], version: ['php', '--version'] },
  { file: 'sign.go', run: ['go', 'run'], version: ['go', 'version'] },
].map(({ file, run: [command = '', ...args], version: [, ...asked] }) => ({ file, command, args, asked }));
const isHere = ({ command, asked }: (typeof EXAMPLES)[number]) => spawnSync(command, asked).status === 0;
const here = EXAMPLES.filter(isHere);
const missing = EXAMPLES.filter((example) => !here.includes(example));
if (missing[0]) console.log(`not on this machine, and so not run: ${missing.map(({ file }) => file).join(', ')}`);

describe('signPrimaryKey', () => {
  it.each(vectors)('makes the documented signature, which the relay accepts: $title', async (vector) => {
    const { secret, primaryKey, signature } = vector;
    expect(await signPrimaryKey(secret, primaryKey)).toBe(signature);
    expect(await createSignatureCheck(secret)(primaryKey, signature)).toBe(true);
    for (const other of vectors.filter((each) => each !== vector)) {
      expect(await createSignatureCheck(secret)(primaryKey, other.signature)).toBe(false);
    }
  });

  const secret = '0123456789abcdef0123456789abcdef';
  it.each<[string, unknown, unknown]>([
    ['secret: expected a string of at least 32 bytes, got an empty string', '', 'ann'],
    ['secret: expected a string of at least 32 bytes, got a string', secret.slice(1), 'ann'],
    ['secret: expected a string of at least 32 bytes, got undefined', undefined, 'ann'],
    ['primaryKey: expected a non-empty string, got ""', secret, ''],
    ['primaryKey: expected a non-empty string, got 7', secret, 7],
    ['primaryKey: expected a non-empty string, got null', secret, null],
    ['primaryKey: expected at most 500 characters, got 501', secret, 'x'.repeat(501)],
    ['primaryKey: expected well-formed Unicode, got half of a surrogate pair', secret, 'ann\ud800'],
  ])('refuses with %s', async (message, secret, primaryKey) => {
    const signing = signPrimaryKey(secret as string, primaryKey as string);
    await expect(signing).rejects.toThrow(`signPrimaryKey: ${message}`);
    await expect(signing).rejects.toThrow(TypeError);
  });
});

describe('the documented examples', () => {
  it.each(here)('make the same signature: $file', ({ file, command, args }) => {
    const printed = execFileSync(command, [...args, join(docs, 'signing', file), VECTORS], { encoding: 'utf8' });
    expect(printed.trim().split(/\r?\n/)).toEqual(vectors.map(({ signature }) => signature));
  });

  it.each(EXAMPLES)('are in docs/relay.md unchanged: $file', ({ file }) => {
    const [, example = ''] = /^.*>>>.*\n([\s\S]*?)\s*^.*<<<$/m.exec(read(`signing/${file}`)) ?? [];
    expect(example).not.toBe('');
    expect(read('relay.md').includes(example), example).toBe(true);
  });
});
