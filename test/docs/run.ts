import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import ts from 'typescript';
import { blocksOf, root } from './markdown.ts';

/** The only block of a page that contains `mark`, such as the name of its file. */
export const blockOf = (page: string, mark: string): string => {
  const found = blocksOf(page).filter((block) => /^[jt]s$/.test(block.lang) && block.text.includes(mark));
  const [block] = found;
  if (!block || found[1]) throw new Error(`${found.length} blocks of ${page} have "${mark}"`);
  return block.text;
};

const folder = join(root, 'test-results/docs');
let count = 0;

/** Puts a block where Node finds `clew` as a reader's project does, by the package's own exports. */
const place = (code: string): string => {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${process.pid}-${++count}.mjs`);
  const { module, target } = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  writeFileSync(file, ts.transpileModule(code, { compilerOptions: { module, target } }).outputText);
  return file;
};

/** Runs a block in a process of its own, until it ends by itself or `end` is called. */
export const run = (code: string, env: Record<string, string> = {}) => {
  const file = place(code);
  const child: ChildProcess = spawn(process.execPath, [file], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = [child.stdout, child.stderr].map((stream) => (stream ? text(stream) : Promise.resolve('')));
  const done = new Promise<number | null>((resolve) => child.once('close', resolve)).finally(() => rmSync(file));
  return {
    /** Resolves to the output of the process. Rejects if the process has failed. */
    async printed(): Promise<string> {
      const code = await done;
      if (code !== 0) throw new Error(`${code}: ${await err}`);
      return (await out) ?? '';
    },
    async end(): Promise<void> {
      child.kill();
      await done;
    },
  };
};
