/** One part of `npm test`: a command, and where its JSON report is if it plays tests. */
export interface Part {
  readonly name: string;
  readonly command: readonly string[];
  /** Time limit of the part with its replays, in ms. The limit is long, so it ends only a part that hangs. */
  readonly limit: number;
  /** File in `test-results/`. */
  readonly report?: string;
  /** The command that plays one test again, without its filters. */
  readonly tool?: 'vitest' | 'playwright';
  /** Whether the later parts need it, so that its failure ends the run. */
  readonly isNeeded?: boolean;
  /** Whether it installs something, so that its time does not count. */
  readonly isInstallation?: boolean;
  /** Whether the later parts play beside this part. The later parts have priority, and this part's output is printed after theirs. */
  readonly isBeside?: boolean;
}

const npm = (script: string, ...args: string[]) => [
  'npm',
  'run',
  '--silent',
  script,
  ...(args[0] ? ['--', ...args] : []),
];
const playwright = (folder: string) => ['npx', 'playwright', 'test', '-c', folder];
const sim = (seeds: number) => ['npx', 'tsx', 'sim/sim.ts', '--seeds', `${seeds}`];
/**
 * Takes only the time of the processor that the other parts leave, until they have ended. On Linux, sessions share the processor equally whatever the
 * nice values of their processes are, and each part is a session: https://man7.org/linux/man-pages/man7/sched.7.html (autogroup)
 */
const LEAST = '{ echo 19 > /proc/self/autogroup; } 2> /dev/null; exec nice -n 19 "$0" "$@"';
const beside = (command: readonly string[]) => ['sh', '-c', LEAST, ...command];
const vitest = ['npx', 'vitest', 'run', '--config', 'test/vitest.config.ts'];

const MINUTE = 60_000;

const browserPart = (name: string, folder: string, limit: number): Part => ({
  name,
  command: playwright(folder),
  report: `${name}.json`,
  tool: 'playwright',
  limit,
});

/** `npm test` takes minutes. With `isAll` every fault, every engine and the long walks are played, too, and the site of the documentation is built. */
export const partsOf = (isAll: boolean): Part[] => {
  const usual = (isAll ? 60 : 20) * MINUTE;
  const faults = (isAll ? 240 : 40) * MINUTE;
  // On a busy machine they wait for the end of the other parts.
  const leastLimit = usual + 30 * MINUTE;
  return [
    { name: 'install', command: npm('test:install'), limit: 30 * MINUTE, isNeeded: true, isInstallation: true },
    // The check needs the types of the build.
    { name: 'build', command: npm('build', '--silent'), limit: 10 * MINUTE, isNeeded: true },
    { name: 'check', command: beside(npm('check')), limit: leastLimit, isBeside: true },
    { name: 'sim', command: beside(sim(isAll ? 20_000 : 3000)), limit: leastLimit, isBeside: true },
    ...(isAll ? [{ name: 'docs', command: npm('docs:build'), limit: 10 * MINUTE }] : []),
    { name: 'unit', command: vitest, report: 'unit.json', tool: 'vitest', limit: usual },
    browserPart('e2e', 'e2e', usual),
    browserPart('engines', 'e2e/engines', faults),
    browserPart('faults', 'e2e/faults', faults),
    ...(isAll ? [browserPart('facts', 'e2e/facts', usual)] : []),
    ...(isAll ? [{ ...browserPart('walks', 'e2e/walks', usual), command: npm('test:walks', '--seeds', '40') }] : []),
  ];
};
