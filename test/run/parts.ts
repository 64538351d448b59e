/** One part of `npm test`: a command, and where its JSON report is if it plays tests. */
export interface Part {
  readonly name: string;
  readonly command: readonly string[];
  /** File in `test-results/`. */
  readonly report?: string;
  /** The command that plays one test again, without its filters. */
  readonly tool?: 'vitest' | 'playwright';
  /** What comes after it needs it: its failure ends the run. */
  readonly isNeeded?: boolean;
  /** Installs something: its time does not count. */
  readonly isInstallation?: boolean;
}

const npm = (script: string, ...args: string[]) => [
  'npm',
  'run',
  '--silent',
  script,
  ...(args[0] ? ['--', ...args] : []),
];
const playwright = (folder: string) => ['npx', 'playwright', 'test', '-c', folder];
const vitest = ['npx', 'vitest', 'run', '--config', 'test/vitest.config.ts'];

const browserPart = (name: string, folder: string): Part => ({
  name,
  command: playwright(folder),
  report: `${name}.json`,
  tool: 'playwright',
});

/** `npm test` takes minutes. With `isAll` every fault, every engine and the long walks are played, too. */
export const partsOf = (isAll: boolean): Part[] => [
  { name: 'install', command: npm('test:install'), isNeeded: true, isInstallation: true },
  { name: 'build', command: npm('build', '--silent'), isNeeded: true },
  { name: 'check', command: npm('check') },
  { name: 'unit', command: vitest, report: 'unit.json', tool: 'vitest' },
  { name: 'sim', command: ['npx', 'tsx', 'sim/sim.ts', '--seeds', isAll ? '20000' : '3000'] },
  browserPart('e2e', 'e2e'),
  browserPart('engines', 'e2e/engines'),
  browserPart('faults', 'e2e/faults'),
  ...(isAll ? [browserPart('facts', 'e2e/facts')] : []),
  ...(isAll ? [{ ...browserPart('walks', 'e2e/walks'), command: npm('test:walks', '--seeds', '40') }] : []),
];
