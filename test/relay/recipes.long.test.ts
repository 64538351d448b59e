import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { UPSERT, useRelays } from './stage.ts';
import { AUDIENCE, token } from './tokens.ts';

const docs = join(import.meta.dirname, '../../docs');
const folder = mkdtempSync(join(tmpdir(), 'clew-recipes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SECRET = 'ein-geheimnis-mit-genügend-bytes';
const openRelay = useRelays(() => ({
  identityKeys: { audience: AUDIENCE, keys: [{ id: 'Schlüssel 1', secret: SECRET }] },
  allowedProperties: [],
  forward: async () => new Response(null, { status: 201 }),
}));

interface Recipe {
  readonly file: string;
  /** Prints the version, if the language is on this machine. */
  readonly version: readonly string[];
  /** Compiles the file into the folder. */
  readonly build?: readonly string[];
  readonly run: readonly string[];
}
const path = (file: string) => join(docs, 'signing', file);
const inFolder = (file: string) => join(folder, file);
const RECIPES: Recipe[] = [
  { file: 'token.mjs', version: [process.execPath, '--version'], run: [process.execPath, path('token.mjs')] },
  { file: 'token.py', version: ['python3', '--version'], run: ['python3', path('token.py')] },
  { file: 'token.rb', version: ['ruby', '--version'], run: ['ruby', path('token.rb')] },
  { file: 'token.php', version: ['php', '--version'], run: ['php', path('token.php')] },
  {
    file: 'token.go',
    version: ['go', 'version'],
    build: ['go', 'build', '-o', inFolder('token-go'), path('token.go')],
    run: [inFolder('token-go')],
  },
  {
    file: 'Token.java',
    version: ['javac', '-version'],
    build: ['javac', '-encoding', 'UTF-8', '-d', folder, path('Token.java')],
    run: ['java', '-cp', folder, 'Token'],
  },
  {
    file: 'Token.cs',
    version: ['mcs', '--version'],
    build: ['mcs', `-out:${inFolder('Token.exe')}`, path('Token.cs')],
    run: ['mono', inFolder('Token.exe')],
  },
];
/** Programs that use a JWT library of their language. */
const LIBRARIES: Recipe[] = [
  {
    file: 'PyJWT',
    version: ['/usr/bin/python3', '-c', 'import jwt'],
    run: [
      '/usr/bin/python3',
      '-c',
      `import json, jwt, sys, time
_, secret, kid, aud, sub, expires, properties = sys.argv
now = int(time.time())
claims = {"sub": sub, "aud": aud, "iat": now, "exp": now + int(expires), "properties": json.loads(properties)}
print(jwt.encode(claims, secret, algorithm="HS256", headers={"kid": kid}))`,
    ],
  },
  {
    file: 'ruby-jwt',
    version: ['ruby', '-rjwt', '-e', ''],
    run: [
      'ruby',
      '-rjson',
      '-rjwt',
      '-e',
      `secret, kid, aud, sub, expires, properties = ARGV
now = Time.now.to_i
claims = { sub: sub, aud: aud, iat: now, exp: now + expires.to_i, properties: JSON.parse(properties) }
puts JWT.encode(claims, secret, "HS256", { kid: kid })`,
    ],
  },
];

const call = ([command = '', ...args]: readonly string[], more: readonly string[] = []) =>
  // Java, Ruby and Mono read arguments in the encoding of the locale.
  execFileSync(command, [...args, ...more], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C.UTF-8' } });
const isHere = ({ version: [command = '', ...args] }: Recipe) => spawnSync(command, args).status === 0;

const PEOPLE: [primaryKey: string, properties: object][] = [
  ['user-42', {}],
  ['dörte.müßig@example.com', { plan: 'größer', tags: { a: [1, null, 'x'] }, old: null }],
  ['astronaut 👩‍🚀', { '': '/+?>~' }],
  ['quotes " \\ \t \n \u0001 </script>', { 'a"b': '\\' }],
];

describe.each([...RECIPES, ...LIBRARIES])('the token of $file', (recipe) => {
  const here = isHere(recipe);
  it.skipIf(!here)(
    here ? 'is accepted with its properties, and with no others' : `is not tested: no ${recipe.version[0]} here`,
    { timeout: 120_000 },
    async () => {
      if (recipe.build) call(recipe.build);
      const relay = await openRelay();
      const upsert = async (primary_key: string, properties: object, signature: string) =>
        (await relay.post(UPSERT, { primary_key, properties, signature })).status;
      for (const [primaryKey, properties] of PEOPLE) {
        const args = [SECRET, 'Schlüssel 1', AUDIENCE, primaryKey, '60', JSON.stringify(properties)];
        const made = call(recipe.run, args).trim();
        expect(await upsert(primaryKey, properties, made), primaryKey).toBe(201);
        expect(await upsert(primaryKey, { ...properties, plan: 'x' }, made), primaryKey).toBe(422);
        expect(await upsert('user-43', {}, made), primaryKey).toBe(422);
      }
      const late = call(recipe.run, [SECRET, 'Schlüssel 1', AUDIENCE, 'ann', '-1', '{}']).trim();
      const answer = await relay.post(UPSERT, { primary_key: 'ann', signature: late });
      expect(answer.json).toEqual({ error: 'signature: token-expired' });
      const elsewhere = call(recipe.run, [SECRET, 'Schlüssel 1', 'blog.example', 'ann', '60', '{}']).trim();
      expect(await upsert('ann', {}, elsewhere)).toBe(422);
      expect(await upsert('ann', {}, token())).toBe(422);
    },
  );
});

it.each(RECIPES)('$file is in docs/identity.md unchanged', ({ file }) => {
  const [, recipe = ''] = /^.*>>>.*\n([\s\S]*?)\s*^.*<<<$/m.exec(readFileSync(path(file), 'utf8')) ?? [];
  expect(recipe).not.toBe('');
  expect(readFileSync(join(docs, 'identity.md'), 'utf8').includes(recipe), recipe).toBe(true);
});
